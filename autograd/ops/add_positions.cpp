#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

/// y[b T + t] = x[b T + t] + table[first + t].
/// dx = dy, dtable[first + t] = sum over b of dy[b T + t].  Saves: nothing.
Var add_table(const Var& x, const Tensor& table, std::span<Real> gradient, Index length,
              Index first) {
  core::require(table.shape().rank() == 2, "add_positions: table of shape ", table.shape());
  const Index n = table.shape().back();
  core::require(
      x.shape().rank() == 2 && x.shape()[1] == n && length > 0 && x.shape()[0] % length == 0,
      "add_positions: input ", x.shape(), " is not whole sequences of length ", length,
      " and width ", n);
  core::require(first >= 0 && first + length <= table.shape()[0], "add_positions: positions up to ",
                first + length, " but the table has ", table.shape()[0]);
  const Index rows = x.shape()[0];
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      core::simd().add(x.value().data() + r * n, table.data() + (first + r % length) * n,
                       to + r * n, n);
  });
  return record("add_positions", std::move(y), {x}, [gradient, length, first, rows, n](Tensor dy) {
    if (!gradient.empty())
      core::parallel_for(length, core::rows_per_piece(n), [&](Index begin, Index end) {
        for (Index t = begin; t < end; ++t)
          for (Index r = t; r < rows; r += length)
            core::simd().axpy(1, dy.data() + r * n, gradient.data() + (first + t) * n, n);
      });
    return Gradients{std::move(dy)};
  });
}

}  // namespace

Var add_positions(const Var& x, const Parameter& table, Index length, Index first) {
  return add_table(x, table.value(), table.gradient(), length, first);
}

Var add_positions(const Var& x, const Tensor& table, Index length, Index first) {
  return add_table(x, table, {}, length, first);
}

}  // namespace weft::autograd
