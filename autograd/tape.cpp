#include "autograd/tape.h"

#include <cmath>

#include "autograd/profile.h"
#include "core/error.h"
#include "core/scope.h"

namespace weft::autograd {
namespace {

/// The op of a watched variable, recognised by its address.
constexpr const char* leaf_op = "leaf";

bool is_finite(const Tensor& x) {
  for (const Real v : x.read())
    if (!std::isfinite(v)) return false;
  return true;
}

[[noreturn]] void report_non_finite(const char* what, const char* op, const std::string& scope) {
  throw core::Error(core::Fault::diverged,
                    core::message_of("non-finite ", what, " first made by op '", op, "' in ",
                                     scope.empty() ? "the model" : scope));
}

}  // namespace

Var Tape::watch(Tensor x) {
  nodes_.push_back({leaf_op, core::Scope::path(), {}, nullptr, {}, 0});
  return {std::move(x), this, size() - 1};
}

Var Tape::record(const char* op, Tensor y, const std::vector<Var>& inputs, Pullback pullback) {
  if (options_.profile) options_.profile->forward(op);
  if (options_.check_finite && !is_finite(y)) report_non_finite("value", op, core::Scope::path());
  Node node{op, core::Scope::path(), {}, std::move(pullback), {}, 0};
  for (const Var& input : inputs) {
    core::require(!input.tape_ || input.tape_ == this, op, ": inputs are on different tapes");
    node.inputs.push_back(input.tape_ ? input.node_ : -1);
  }
  if (options_.watch) {
    node.place = options_.watch->place();
    options_.watch->advance();
  }
  nodes_.push_back(std::move(node));
  return {std::move(y), this, size() - 1};
}

void Tape::deliver(Index index, Tensor gradient) {
  Tensor& sum = nodes_[std::size_t(index)].gradient;
  if (sum.size() == 0) {
    sum = std::move(gradient);
  } else if (sum.is_sole_owner()) {
    core::accumulate(sum, gradient);
  } else if (gradient.is_sole_owner()) {
    core::accumulate(gradient, sum);
    sum = std::move(gradient);
  } else {
    Tensor both(sum.shape(), 0);
    core::accumulate(both, sum);
    core::accumulate(both, gradient);
    sum = std::move(both);
  }
}

void Tape::sweep(Var loss) {
  core::require(loss.shape().size() == 1, "sweep: a loss is one number, got shape ", loss.shape());
  Tensor one(loss.shape(), 1);
  sweep(std::move(loss), std::move(one));
}

void Tape::sweep(Var y, Tensor dy) {
  core::require(y.tape_ == this, "sweep: the variable is not on this tape");
  core::require(dy.shape() == y.shape(), "sweep: gradient of shape ", dy.shape(),
                " for a value of shape ", y.shape());
  core::require(!std::exchange(swept_, true),
                "sweep: this tape has been swept before; record a new one");
  const Index last = y.node_;
  y = {};
  deliver(last, std::move(dy));
  for (Index i = last; i >= 0; --i) {
    Node& node = nodes_[std::size_t(i)];
    if (!node.pullback) continue;
    const Pullback pullback = std::move(node.pullback);
    node.pullback = nullptr;
    if (node.gradient.size() == 0) continue;  // nothing depends on it
    const core::ResumedScope scope(node.scope);
    Gradients gradients = pullback(std::exchange(node.gradient, {}));
    if (options_.profile) options_.profile->backward(node.op, node.scope);
    core::require(gradients.size() == node.inputs.size(), node.op, ": ", gradients.size(),
                  " gradients for ", node.inputs.size(), " inputs");
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      if (node.inputs[k] < 0 || gradients[k].size() == 0) continue;
      if (options_.check_finite && !is_finite(gradients[k]))
        report_non_finite("gradient", node.op, node.scope);
      deliver(node.inputs[k], std::move(gradients[k]));
    }
    if (options_.watch) options_.watch->swept(node.place);
  }
}

Tensor Tape::gradient(const Var& leaf) const {
  core::require(leaf.tape_ == this, "gradient: the variable is not on this tape");
  const Node& node = nodes_[std::size_t(leaf.node_)];
  core::require(node.op == leaf_op, "gradient: kept for watched variables only, not for op '",
                node.op, "'");
  return node.gradient.size() > 0 ? node.gradient : Tensor(leaf.shape(), 0);
}

Var record(const char* op, Tensor y, const std::vector<Var>& inputs, Pullback pullback) {
  for (const Var& input : inputs)
    if (input.tape()) return input.tape()->record(op, std::move(y), inputs, std::move(pullback));
  return Var(std::move(y));
}

}  // namespace weft::autograd
