#pragma once

#include <functional>
#include <span>

#include "core/arrays/tensor.h"

namespace weft::autograd {

/// to[j] += sum over rows of x[row, j].  x: [..., n]
/// Rows are summed in fixed pieces and the pieces in order: the same bits at any thread count.
void add_row_sums(const core::Tensor& x, std::span<core::Real> to);

/// Runs body(begin, end, sums) over pieces of rows, each with its own zeroed `sums` of `width`
/// numbers, and adds the pieces' sums to `to` in order. An empty `to` (a parameter that is not
/// trained) drops them.
void sum_over_rows(
    core::Index rows, core::Index width, std::span<core::Real> to,
    const std::function<void(core::Index begin, core::Index end, core::Real* sums)>& body);

}  // namespace weft::autograd
