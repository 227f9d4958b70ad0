#include <algorithm>

#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "autograd/rows_alone.h"
#include "core/arrays/bf16.h"
#include "core/arrays/gemm.h"
#include "core/arrays/matrix_vector.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

core::ConstMatrix rows_of(const Tensor& x) {
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

/// The input as the pullback reads it: itself, or rounded where products are in bf16.
struct SavedInput {
  SavedInput(const Tensor& x, bool rounds)
      : exact(rounds ? Tensor() : x),
        rounded(rounds ? core::Bf16Array(x.shape().rows(), x.shape().back()) : core::Bf16Array()),
        shape(x.shape()) {}
  core::Operand factor() const {
    return rounded.empty() ? core::Operand(rows_of(exact)) : core::Operand(rounded.view());
  }

  Tensor exact;
  core::Bf16Array rounded;
  Shape shape;
};

/// Single tokens are multiplied as vectors, in float32.
bool as_vectors(const Tensor& x) { return x.shape().rows() == 1 || RowsAlone::now(); }

bool rounds(const Tensor& x, const Parameter& weight) {
  return !as_vectors(x) && weight.rounded().data;
}

core::Operand factor(const Parameter& weight) {
  const core::Bf16Matrix rounded = weight.rounded();
  return rounded.data ? core::Operand(rounded) : core::Operand(rows_of(weight.value()));
}

/// y = residual + x weight^T + bias, panel by panel so that a prepared panel is still in cache
/// when its product is added; single rows as products with vectors. Fills `saved`.
Tensor apply(const Tensor& x, const Parameter& weight, const Parameter* bias,
             const Tensor* residual, SavedInput& saved) {
  const Index in = weight.shape()[1], out = weight.shape()[0], rows = x.shape().rows();
  Tensor y(with_columns(x.shape(), out));
  Real* to = y.write().data();
  const Real* from = x.data();
  const Real* base = residual ? residual->data() : nullptr;
  const Real* shift = bias ? bias->data() : nullptr;
  if (as_vectors(x)) {
    if (base || shift)
      prepare(to, base, shift, rows, out);
    else
      std::fill_n(to, rows * out, Real(0));
    core::multiply_vectors({weight.data(), out, in, in}, {from, rows, in, in},
                           {to, rows, out, out});
    return y;
  }
  const core::Operand w = core::transposed(factor(weight));
  core::Bf16* rounded = saved.rounded.empty() ? nullptr : saved.rounded.write();
  const auto panel_of = [&](Index begin, Index end) -> core::Operand {
    const core::ConstMatrix part{from + begin * in, end - begin, in, in};
    if (!rounded) return part;
    core::round_to_bf16(part, rounded + begin * in);
    return core::Bf16Matrix{rounded + begin * in, end - begin, in, in};
  };
  const Index panel = core::rows_per_panel(rows);
  if (panel >= rows) {
    if (base || shift) prepare(to, base, shift, rows, out);
    core::parallel_gemm(1, panel_of(0, rows), w, base || shift ? 1 : 0, {to, rows, out, out});
    return y;
  }
  core::parallel_for(rows, panel, [&](Index begin, Index end) {
    Real* part = to + begin * out;
    if (base || shift) prepare(part, base ? base + begin * out : nullptr, shift, end - begin, out);
    core::gemm(1, panel_of(begin, end), w, base || shift ? 1 : 0, {part, end - begin, out, out});
  });
  return y;
}

/// dweight += dy^T x, dbias += column sums of dy; returns dx = dy weight.
Tensor pull_back(const SavedInput& x, const Parameter& weight, const Parameter* bias,
                 const Tensor& dy) {
  const Index in = weight.shape()[1], out = weight.shape()[0];
  const core::Bf16Array rounded =
      x.rounded.empty() ? core::Bf16Array() : core::Bf16Array::of(rows_of(dy));
  const core::Operand d =
      rounded.empty() ? core::Operand(rows_of(dy)) : core::Operand(rounded.view());
  if (!weight.gradient().empty())
    core::parallel_gemm(1, core::transposed(d), x.factor(), 1,
                        {weight.gradient().data(), out, in, in});
  if (bias && !bias->gradient().empty()) add_row_sums(dy, bias->gradient());
  Tensor dx(x.shape);
  core::parallel_gemm(1, d,
                      rounded.empty() ? core::Operand(rows_of(weight.value())) : factor(weight), 0,
                      {dx.write().data(), x.shape.rows(), in, in});
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
/// dx = dy weight, dweight = dy^T x, dbias = column sums of dy.
/// Saves: x, rounded where the arena keeps products in bf16.
Var linear(const Var& x, const Parameter& weight, const Parameter* bias) {
  check("linear", x, weight, bias);
  SavedInput saved(x.value(), rounds(x.value(), weight));
  Tensor y = apply(x.value(), weight, bias, nullptr, saved);
  return record("linear", std::move(y), {x}, [saved, &weight, bias](Tensor dy) {
    return Gradients{pull_back(saved, weight, bias, dy)};
  });
}

/// y = residual + x weight^T + bias.
/// The residual's gradient is dy itself; the rest as in linear.  Saves: as linear.
Var linear_onto(const Var& residual, const Var& x, const Parameter& weight, const Parameter* bias) {
  check("linear_onto", x, weight, bias);
  core::require(residual.shape() == with_columns(x.shape(), weight.shape()[0]),
                "linear_onto: residual of shape ", residual.shape(), " for input ", x.shape(),
                " and weight ", weight.shape());
  SavedInput saved(x.value(), rounds(x.value(), weight));
  Tensor y = apply(x.value(), weight, bias, &residual.value(), saved);
  return record("linear_onto", std::move(y), {residual, x}, [saved, &weight, bias](Tensor dy) {
    Tensor dx = pull_back(saved, weight, bias, dy);
    return Gradients{std::move(dy), std::move(dx)};
  });
}

}  // namespace weft::autograd
