#include "layers/attention/fittings/input_map.h"

#include "autograd/ops.h"

namespace weft::layers {
namespace {

constexpr double deviation = 0.02;

}  // namespace

InputMap::InputMap(Index in, Index out, const Form& form)
    : rank_(form.rank),
      has_bias_(form.bias),
      down_({form.rank, in}, autograd::Init::normal(deviation)),
      up_({out, form.rank > 0 ? form.rank : in}, autograd::Init::normal(deviation)),
      bias_({out}, form.start) {}

Var InputMap::forward(const Var& x) const {
  return autograd::linear(rank_ > 0 ? autograd::linear(x, down_) : x, up_,
                          has_bias_ ? &bias_ : nullptr);
}

Cost InputMap::cost(Index tokens) const {
  const Index product = 2 * tokens * (up_.shape().size() + (rank_ > 0 ? down_.shape().size() : 0));
  return {.flops = product,
          .backward_flops = 2 * product,
          .saved_bytes = tokens * rank_ * Index(sizeof(Real))};
}

void InputMap::visit(autograd::Inventory& inventory) {
  if (rank_ > 0) inventory.add("down", down_);
  inventory.add(rank_ > 0 ? "up" : "weight", up_);
  if (has_bias_) inventory.add("bias", bias_);
}

}  // namespace weft::layers
