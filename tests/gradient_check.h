#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "autograd/pass.h"
#include "tests/drawn_parameters.h"
#include "tests/random_values.h"

namespace weft::tests {

/// What is differentiated. In the reverse run the inputs stand on the pass's tape; in the perturbed
/// runs there is no tape and they are constants. All runs are training passes with one random
/// stream and one journal, so masks stay the same and decisions are frozen.
using Function =
    std::function<autograd::Var(const autograd::Pass&, const std::vector<autograd::Var>&)>;

/// Both sides of <u, J v> for random u and for v over all inputs and parameters at once.
class GradientCheck {
 public:
  GradientCheck(const Function& f, const std::vector<core::Tensor>& inputs,
                autograd::ParameterArena& arena)
      : f_(f), inputs_(inputs), arena_(arena) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      directions_.push_back(random_tensor(inputs[i].shape(), 1000 + i));
    arena_direction_ = random_tensor({arena.size()}, 999);
  }

  /// <v, J^T u> by one sweep. Parameter gradients start from noise, which shows a pullback that
  /// assigns where it must add.
  double reverse() {
    const core::Tensor noise = random_tensor({arena_.size()}, 7);
    std::ranges::copy(noise.read(), arena_.gradients().begin());
    autograd::Tape tape;
    std::vector<autograd::Var> leaves;
    for (const core::Tensor& x : inputs_) leaves.push_back(tape.watch(x));
    const autograd::Var y = f_(autograd::Pass(tape, stream_, journal_), leaves);
    value_.assign(y.value().read().begin(), y.value().read().end());
    upstream_ = random_tensor(y.shape(), 5);
    tape.sweep(y, upstream_);
    double total = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      total += project(tape.gradient(leaves[i]).read(), directions_[i].read());
    core::Tensor added(noise.shape());
    for (std::size_t i = 0; i < added.write().size(); ++i)
      added.write()[i] = arena_.gradients()[i] - noise.read()[i];
    return total + project(added.read(), arena_direction_.read());
  }

  /// The same by a five-point central difference.
  double numeric() {
    const auto near = difference(h), far = difference(2 * h);
    double total = 0;
    for (std::size_t i = 0; i < near.size(); ++i)
      total += double(upstream_.read()[i]) * (8 * near[i] - far[i]);
    return total / (12 * h);
  }

  /// The root mean square of <v, g> over all directions v.
  double typical() const { return std::sqrt(squares_); }
  /// The value that the reverse run recorded.
  const std::vector<double>& value() const { return value_; }

  /// f with inputs and parameters moved by `step` along v, unrecorded.
  std::vector<double> value_at(double step) {
    std::vector<autograd::Var> moved;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      core::Tensor x(inputs_[i].shape());
      move(inputs_[i].read(), directions_[i].read(), step, x.write());
      moved.emplace_back(x);
    }
    const std::vector<core::Real> kept(arena_.values().begin(), arena_.values().end());
    move(kept, arena_direction_.read(), step, arena_.values());
    autograd::Tape unused;
    const auto pass = autograd::Pass(unused, stream_, journal_).without_tape();
    const core::Tensor y = f_(pass, moved).value();
    const std::vector<double> result(y.read().begin(), y.read().end());
    std::ranges::copy(kept, arena_.values().begin());
    return result;
  }

 private:
  static constexpr double h = 1e-4;

  static void move(std::span<const core::Real> x, std::span<const core::Real> v, double step,
                   std::span<core::Real> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = core::Real(x[i] + step * v[i]);
  }

  std::vector<double> difference(double step) {
    auto result = value_at(step);
    const auto below = value_at(-step);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] -= below[i];
    return result;
  }

  double project(std::span<const core::Real> gradient, std::span<const core::Real> direction) {
    double total = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      total += double(gradient[i]) * direction[i];
      squares_ += double(gradient[i]) * gradient[i];
    }
    return total;
  }

  const Function& f_;
  const std::vector<core::Tensor>& inputs_;
  autograd::ParameterArena& arena_;
  std::vector<core::Tensor> directions_;
  core::Tensor arena_direction_, upstream_;
  core::Rng stream_{3};
  autograd::Journal journal_;
  std::vector<double> value_;
  double squares_ = 0;
};

/// Checks that recording changes no value and that the reverse sweep agrees with differences to
/// 1e-8, at the parameter values that stand in the arena. In float, where differences mean
/// nothing, it checks nothing.
inline void check_gradient(const std::string& op, const Function& f,
                           const std::vector<core::Tensor>& inputs,
                           autograd::ParameterArena& arena) {
  if (sizeof(core::Real) < sizeof(double)) return;
  GradientCheck check(f, inputs, arena);
  const double reverse = check.reverse(), numeric = check.numeric();
  EXPECT_EQ(check.value(), check.value_at(0)) << op << ": recording changes the value";
  const double size = std::max({std::abs(reverse), std::abs(numeric), check.typical()});
  EXPECT_LE(std::abs(reverse - numeric), 1e-8 * size)
      << op << ": the sweep gives " << reverse << ", differences give " << numeric;
  EXPECT_GT(size, 0) << op << ": nothing was differentiated";
}

/// The same at random values of the given parameters.
inline void check_gradient(const std::string& op, const Function& f,
                           const std::vector<core::Tensor>& inputs,
                           const std::vector<autograd::Parameter*>& parameters = {}) {
  DrawnParameters drawn(parameters);
  check_gradient(op, f, inputs, drawn.arena());
}

}  // namespace weft::tests
