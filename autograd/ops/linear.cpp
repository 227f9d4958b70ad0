#include <algorithm>

#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/arrays/gemm.h"
#include "core/arrays/matrix_vector.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

core::ConstMatrix matrix(const Tensor& x) {
  return {x.data(), x.shape().rows(), x.shape().back(), x.shape().back()};
}

/// Sets rows of y to the residual, the bias, or their sum: what the product is added onto.
void prepare(Real* y, const Real* residual, const Real* bias, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r, y += n) {
    if (residual && bias)
      core::simd().add(residual + r * n, bias, y, n);
    else
      std::copy_n(residual ? residual + r * n : bias, n, y);
  }
}

/// y = residual + x weight^T + bias, panel by panel so that a prepared panel is still in cache
/// when its product is added; a single row as a product with a vector.
Tensor apply(const Tensor& x, const Parameter& weight, const Parameter* bias,
             const Tensor* residual) {
  const Index in = weight.shape()[1], out = weight.shape()[0], rows = x.shape().rows();
  Tensor y(with_columns(x.shape(), out));
  Real* to = y.write().data();
  const Real* from = x.data();
  const Real* base = residual ? residual->data() : nullptr;
  const Real* shift = bias ? bias->data() : nullptr;
  const core::ConstMatrix w{weight.data(), out, in, in};
  if (rows == 1) {
    if (base || shift)
      prepare(to, base, shift, 1, out);
    else
      std::fill_n(to, out, Real(0));
    core::multiply_vector(w, from, to);
    return y;
  }
  const Index panel = core::rows_per_panel(rows);
  if (panel >= rows) {
    if (base || shift) prepare(to, base, shift, rows, out);
    core::parallel_gemm(1, core::ConstMatrix{from, rows, in, in}, core::transposed(w),
                        base || shift ? 1 : 0, {to, rows, out, out});
    return y;
  }
  core::parallel_for(rows, panel, [&](Index begin, Index end) {
    Real* part = to + begin * out;
    if (base || shift) prepare(part, base ? base + begin * out : nullptr, shift, end - begin, out);
    core::gemm(1, core::ConstMatrix{from + begin * in, end - begin, in, in}, core::transposed(w),
               base || shift ? 1 : 0, {part, end - begin, out, out});
  });
  return y;
}

/// dweight += dy^T x, dbias += column sums of dy; returns dx = dy weight.
Tensor pull_back(const Tensor& x, const Parameter& weight, const Parameter* bias,
                 const Tensor& dy) {
  const Index in = weight.shape()[1], out = weight.shape()[0];
  if (!weight.gradient().empty())
    core::parallel_gemm(1, core::transposed(matrix(dy)), matrix(x), 1,
                        {weight.gradient().data(), out, in, in});
  if (bias && !bias->gradient().empty()) add_row_sums(dy, bias->gradient());
  Tensor dx(x.shape());
  core::parallel_gemm(1, matrix(dy), core::ConstMatrix{weight.data(), out, in, in}, 0,
                      {dx.write().data(), x.shape().rows(), in, in});
  return dx;
}

void check(const char* op, const Var& x, const Parameter& weight, const Parameter* bias) {
  core::require(
      x.shape().rank() >= 1 && weight.shape().rank() == 2 && x.shape().back() == weight.shape()[1],
      op, ": input of shape ", x.shape(), " does not fit a weight of shape ", weight.shape());
  core::require(!bias || bias->shape() == Shape{weight.shape()[0]}, op, ": bias of shape ",
                bias ? bias->shape() : Shape{}, " for a weight of shape ", weight.shape());
}

}  // namespace

/// y = x weight^T + bias.
/// dx = dy weight, dweight = dy^T x, dbias = column sums of dy.  Saves: x.
Var linear(const Var& x, const Parameter& weight, const Parameter* bias) {
  check("linear", x, weight, bias);
  return record("linear", apply(x.value(), weight, bias, nullptr), {x},
                [saved = x.value(), &weight, bias](Tensor dy) {
                  return Gradients{pull_back(saved, weight, bias, dy)};
                });
}

/// y = residual + x weight^T + bias.
/// The residual's gradient is dy itself; the rest as in linear.  Saves: x.
Var linear_onto(const Var& residual, const Var& x, const Parameter& weight, const Parameter* bias) {
  check("linear_onto", x, weight, bias);
  core::require(residual.shape() == with_columns(x.shape(), weight.shape()[0]),
                "linear_onto: residual of shape ", residual.shape(), " for input ", x.shape(),
                " and weight ", weight.shape());
  return record("linear_onto", apply(x.value(), weight, bias, &residual.value()), {residual, x},
                [saved = x.value(), &weight, bias](Tensor dy) {
                  Tensor dx = pull_back(saved, weight, bias, dy);
                  return Gradients{std::move(dy), std::move(dx)};
                });
}

}  // namespace weft::autograd
