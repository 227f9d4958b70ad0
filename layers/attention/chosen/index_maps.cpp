#include "layers/attention/chosen/index_maps.h"

#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"

namespace weft::layers {
namespace {

constexpr Real norm_eps = Real(1e-6);

}  // namespace

IndexMaps::IndexMaps(Index in, Index heads, Index width)
    : index_{heads, width, Real(1 / std::sqrt(double(heads * width)))},
      keys_(in, width, {}),
      weights_(in, heads, {}),
      gain_({width}, autograd::Init::ones()),
      shift_({width}, autograd::Init::zeros()) {
  for (Index i = 0; i < heads; ++i) queries_.emplace_back(in, width, InputMap::Form{});
}

IndexRows IndexMaps::forward(const Pass& pass, const Tensor& x, const Tensor& keys) const {
  // Leaves of their own: parameters learn, and what made x does not.
  const auto held = [&](const Tensor& given) {
    return pass.tape() ? pass.tape()->watch(given) : Var(given);
  };
  const Var of_queries = held(x);
  std::vector<Var> q;
  for (const InputMap& head : queries_) q.push_back(head.forward(of_queries));
  return {std::move(q), autograd::layer_norm(keys_.forward(held(keys)), gain_, shift_, norm_eps),
          weights_.forward(of_queries)};
}

Cost IndexMaps::cost(Index tokens, Index keys) const {
  Cost cost = weights_.cost(tokens);
  for (const InputMap& head : queries_) cost += head.cost(tokens);
  cost += keys_.cost(keys);
  const Index kept = tokens * index_.heads * (index_.width + 1) + keys * (2 * index_.width + 2);
  cost.saved_bytes += kept * Index(sizeof(Real));
  return cost;
}

void IndexMaps::visit(autograd::Inventory& inventory) {
  for (std::size_t i = 0; i < queries_.size(); ++i)
    inventory.enter(core::message_of("query", i), queries_[i]);
  inventory.enter("keys", keys_);
  inventory.enter("weights", weights_);
  inventory.add("gain", gain_);
  inventory.add("shift", shift_);
}

}  // namespace weft::layers
