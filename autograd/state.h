#pragma once

#include <functional>
#include <span>

#include "core/arrays/tensor.h"

namespace weft::autograd {

/// An array that changes outside the gradient: moving averages, running statistics, projections.
/// Forward passes propose additive statistics (sums, counts) through the Journal, and `rule`
/// turns their total into the next value, exactly once an optimizer step. A state is part of the
/// checkpoint and never reaches an optimizer.
class State {
 public:
  using Rule =
      std::function<void(std::span<core::Real> value, std::span<const core::Real> statistics)>;

  State(core::Tensor initial, Rule rule) : value_(std::move(initial)), rule_(std::move(rule)) {}

  const core::Tensor& value() const { return value_; }
  /// For a checkpoint to fill.
  std::span<core::Real> writable() { return value_.write(); }
  void absorb(const core::Tensor& statistics) { rule_(value_.write(), statistics.read()); }

 private:
  core::Tensor value_;
  Rule rule_;
};

}  // namespace weft::autograd
