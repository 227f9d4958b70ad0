#include "layers/stack/branch.h"

namespace weft::layers {
namespace {

/// The recurrent unit's, if there is one.
struct UnitState final : DecodeState {
  Index bytes() const override { return unit ? unit->bytes() : 0; }
  std::unique_ptr<DecodeState> copy() const override {
    auto other = std::make_unique<UnitState>();
    if (unit) other->unit = unit->copy();
    return other;
  }
  std::unique_ptr<DecodeState> unit;
};

}  // namespace

Var Branch::forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
  return autograd::dropout(pass, run(pass, norm_.forward(pass, x), x, sequences), dropout_);
}

Var Branch::onto(const Pass& pass, const Var& x, const Sequences& sequences) const {
  return residual(
      pass, x, norm_, place_, dropout_,
      [&](const Var& r, const Var& h) { return run_onto(pass, r, h, x, sequences); },
      [&](const Var& h) { return run(pass, h, x, sequences); });
}

Tensor Branch::step(const StepRows& rows, const Tensor& x) const {
  return run_step(rows, norm_.forward(Pass(), Var(x)).value(), x);
}

Tensor Branch::step_onto(const StepRows& rows, const Tensor& x) const {
  const auto stepped = [&](const Var& h) { return Var(run_step(rows, h.value(), x)); };
  return residual(
             Pass(), Var(x), norm_, place_, 0,
             [&](const Var& r, const Var& h) { return autograd::add(r, stepped(h)); }, stepped)
      .value();
}

Index BranchStates::bytes() const {
  Index total = 0;
  for (const auto& branch : branches) total += branch->bytes();
  return total;
}

StepRows rows_of_branch(const StackRows& rows, std::size_t branch) {
  StepRows own;
  for (const StackRow& row : rows)
    own.push_back({row.sequence->branches[branch].get(), row.position});
  return own;
}

Var AttentionBranch::run(const Pass& pass, const Var& h, const Var&,
                         const Sequences& sequences) const {
  return attention_.forward(pass, h, sequences);
}

Var AttentionBranch::run_onto(const Pass& pass, const Var& residual, const Var& h, const Var&,
                              const Sequences& sequences) const {
  return attention_.onto(pass, residual, h, sequences);
}

std::unique_ptr<DecodeState> AttentionBranch::begin() const {
  return std::make_unique<MultiHeadState>(attention_.begin());
}

Tensor AttentionBranch::run_step(const StepRows& rows, const Tensor& h, const Tensor&) const {
  return attention_.step(rows, h);
}

Var FeedForwardBranch::run(const Pass& pass, const Var& h, const Var& x,
                           const Sequences& sequences) const {
  const Var y = feed_forward_->forward(pass, h, sequences);
  if (!unit_) return y;
  return autograd::add(y, unit_->forward(pass.at("unit"), x, sequences.queries));
}

Var FeedForwardBranch::run_onto(const Pass& pass, const Var& residual, const Var& h, const Var& x,
                                const Sequences& sequences) const {
  if (unit_) return Branch::run_onto(pass, residual, h, x, sequences);
  return feed_forward_->onto(pass, residual, h, sequences);
}

std::unique_ptr<DecodeState> FeedForwardBranch::begin() const {
  auto state = std::make_unique<UnitState>();
  if (unit_) state->unit = unit_->begin();
  return state;
}

Tensor FeedForwardBranch::run_step(const StepRows& rows, const Tensor& h, const Tensor& x) const {
  const Tensor y = feed_forward_->step(h);
  if (!unit_) return y;
  StepRows of_unit = rows;
  for (StepRow& row : of_unit) row.state = static_cast<UnitState&>(*row.state).unit.get();
  const Tensor added = unit_->step(of_unit, x);
  return autograd::add(Var(y), Var(added)).value();
}

Index FeedForwardBranch::weights() const {
  return feed_forward_->weights() + (unit_ ? unit_->weights() : 0);
}

void FeedForwardBranch::visit(Inventory& inventory) {
  feed_forward_->visit(inventory);
  if (unit_) inventory.enter("recurrent_unit", *unit_);
}

}  // namespace weft::layers
