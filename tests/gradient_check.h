#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::tests {

/// Both sides of <u, J v>, for random u and for v over all inputs and parameters at once: random
/// too, but leaning towards the gradient J^T u, so that the product is never small by chance. All
/// runs are training passes with one random stream and one journal, so that masks stay the same
/// and decisions are frozen.
class GradientCheck {
 public:
  GradientCheck(const Function& f, const std::vector<core::Tensor>& inputs,
                autograd::ParameterArena& arena);

  /// <J^T u, v>
  double reverse() const;

  /// <u, J v> by a five-point central difference of step h.
  double numeric(double h);

  /// f as the sweep recorded it.
  const std::vector<double>& recorded_value() const { return value_; }

  /// f with inputs and parameters moved by `step` along v, unrecorded.
  std::vector<double> value_at(double step);

 private:
  using Numbers = std::vector<double>;

  /// Fills gradients_ (the inputs', then the arena's), value_ and upstream_. The arena's gradients
  /// start from noise, which shows a pullback that assigns where it must add.
  void sweep();
  Numbers difference(double step);

  const Function& f_;
  const std::vector<core::Tensor>& inputs_;
  autograd::ParameterArena& arena_;
  autograd::Journal journal_;
  core::Tensor upstream_;
  Numbers value_;
  std::vector<Numbers> gradients_, directions_;
};

/// Checks that recording changes no value and that the reverse sweep agrees with differences to
/// 1e-8, at the parameter values in the arena. In float, where differences mean nothing, it
/// checks that recording changes no value and that the gradient is finite.
void check_gradient(const std::string& op, const Function& f,
                    const std::vector<core::Tensor>& inputs, autograd::ParameterArena& arena);

/// The same at random values of the given parameters.
void check_gradient(const std::string& op, const Function& f,
                    const std::vector<core::Tensor>& inputs,
                    const std::vector<autograd::Parameter*>& parameters = {});

}  // namespace weft::tests
