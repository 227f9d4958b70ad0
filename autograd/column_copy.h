#pragma once

#include "core/arrays/tensor.h"

namespace weft::autograd {

/// `shape` with its last extent replaced.
core::Shape with_columns(const core::Shape& shape, core::Index columns);

/// A copy of columns [first, first + count) of the last axis.
core::Tensor take_columns(const core::Tensor& x, core::Index first, core::Index count);

/// Copies x into columns [first, first + its width) of y.
void put_columns(const core::Tensor& x, core::Tensor& y, core::Index first);

}  // namespace weft::autograd
