#include "tests/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace weft::tests {
namespace {

void move(std::span<const core::Real> x, const std::vector<double>& v, double step,
          std::span<core::Real> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = core::Real(x[i] + step * v[i]);
}

}  // namespace

GradientCheck::GradientCheck(const Function& f, const std::vector<core::Tensor>& inputs,
                             autograd::ParameterArena& arena)
    : f_(f), inputs_(inputs), arena_(arena) {
  sweep();
  double squares = 0;
  for (const Numbers& gradient : gradients_)
    for (const double g : gradient) squares += g * g;
  const double lean = squares > 0 ? 3 / std::sqrt(squares) : 0;
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    const core::Rng rng = core::Rng(11).fold(i);
    for (std::size_t j = 0; j < gradients_[i].size(); ++j)
      directions_[i].push_back(rng.normal(j) + lean * gradients_[i][j]);
  }
}

double GradientCheck::reverse() const {
  double total = 0;
  for (std::size_t i = 0; i < gradients_.size(); ++i)
    for (std::size_t j = 0; j < gradients_[i].size(); ++j)
      total += gradients_[i][j] * directions_[i][j];
  return total;
}

double GradientCheck::numeric(double h) {
  const Numbers near = difference(h), far = difference(2 * h);
  double total = 0;
  for (std::size_t i = 0; i < near.size(); ++i)
    total += double(upstream_.read()[i]) * (8 * near[i] - far[i]);
  return total / (12 * h);
}

std::vector<double> GradientCheck::value_at(double step) {
  std::vector<autograd::Var> moved;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    core::Tensor x(inputs_[i].shape());
    move(inputs_[i].read(), directions_[i], step, x.write());
    moved.emplace_back(x);
  }
  const std::vector<core::Real> kept(arena_.values().begin(), arena_.values().end());
  move(kept, directions_.back(), step, arena_.values());
  autograd::Tape unused;
  const auto pass = autograd::Pass(unused, test_stream, journal_).without_tape();
  const core::Tensor y = f_(pass, moved).value();
  const Numbers result(y.read().begin(), y.read().end());
  std::ranges::copy(kept, arena_.values().begin());
  return result;
}

void GradientCheck::sweep() {
  const core::Tensor noise = random_tensor({arena_.size()}, 7);
  std::ranges::copy(noise.read(), arena_.gradients().begin());
  const Pulled pulled = pull_back(f_, inputs_, journal_);
  value_.assign(pulled.value.read().begin(), pulled.value.read().end());
  upstream_ = pulled.upstream;
  for (const core::Tensor& gradient : pulled.gradients)
    gradients_.emplace_back(gradient.read().begin(), gradient.read().end());
  gradients_.emplace_back();
  for (std::size_t i = 0; i < noise.read().size(); ++i)
    gradients_.back().push_back(double(arena_.gradients()[i]) - noise.read()[i]);
  directions_.resize(gradients_.size());
}

std::vector<double> GradientCheck::difference(double step) {
  Numbers result = value_at(step);
  const Numbers below = value_at(-step);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= below[i];
  return result;
}

void check_gradient(const std::string& op, const Function& f,
                    const std::vector<core::Tensor>& inputs, autograd::ParameterArena& arena) {
  GradientCheck check(f, inputs, arena);
  EXPECT_EQ(check.recorded_value(), check.value_at(0)) << op << ": recording changes the value";
  const double reverse = check.reverse();
  EXPECT_TRUE(std::isfinite(reverse)) << op << ": the sweep gives " << reverse;
  if (sizeof(core::Real) < sizeof(double)) return;
  double numeric = 0, size = 0;
  for (const double h : {1e-4, 1e-6, 1e-8}) {  // shorter steps for what bends within a longer one
    numeric = check.numeric(h);
    size = std::max(std::abs(reverse), std::abs(numeric));
    if (std::abs(reverse - numeric) <= 1e-8 * size) break;
  }
  EXPECT_LE(std::abs(reverse - numeric), 1e-8 * size)
      << op << ": the sweep gives " << reverse << ", differences give " << numeric;
  EXPECT_GT(size, 0) << op << ": nothing was differentiated";
}

void check_gradient(const std::string& op, const Function& f,
                    const std::vector<core::Tensor>& inputs,
                    const std::vector<autograd::Parameter*>& parameters) {
  DrawnParameters drawn(parameters);
  check_gradient(op, f, inputs, drawn.arena());
}

}  // namespace weft::tests
