#include "layers/parts/recurrent_unit.h"

#include "autograd/ops.h"

namespace weft::layers {
namespace {

/// The running average of one sequence.
struct Average final : CopiedState<Average> {
  explicit Average(Index units) : c(std::size_t(units), 0) {}
  Index bytes() const override { return Index(c.size() * sizeof(Real)); }
  std::vector<Real> c;
};

}  // namespace

RecurrentUnit::RecurrentUnit(Index width, Index units, NormKind norm, Init in, Init out)
    : units_(units),
      norm_(width, norm),
      down_(width, units, in),
      gates_(units, 3 * units, in),
      up_(units, width, out) {}

Var RecurrentUnit::forward(const Pass& pass, const Var& x, Index length) const {
  const Var u = down_.forward(norm_.forward(pass.at("norm"), x));
  return up_.forward(autograd::simple_recurrence(gates_.forward(u), u, length));
}

std::unique_ptr<DecodeState> RecurrentUnit::begin() const {
  return std::make_unique<Average>(units_);
}

Tensor RecurrentUnit::step(const StepRows& rows, const Tensor& x) const {
  const Var u = down_.forward(norm_.forward(Pass(), Var(x)));
  const Tensor gates = gates_.forward(u).value();
  Tensor y(u.shape());
  const auto units = std::size_t(units_);
  for (std::size_t r = 0; r < rows.size(); ++r)
    autograd::step_recurrence(
        gates.read().subspan(3 * r * units, 3 * units), u.value().read().subspan(r * units, units),
        static_cast<Average&>(*rows[r].state).c, y.write().subspan(r * units, units));
  return up_.forward(Var(std::move(y))).value();
}

void RecurrentUnit::visit(Inventory& inventory) {
  inventory.enter("norm", norm_);
  inventory.enter("down", down_);
  inventory.enter("gates", gates_);
  inventory.enter("up", up_);
}

}  // namespace weft::layers
