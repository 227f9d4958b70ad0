#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd {
namespace {

/// y[i] = x[rows[i]].  x: [N, n] -> [count, n]
Tensor gathered(const Tensor& x, const std::vector<Index>& rows) {
  const Index n = x.shape().back();
  Tensor y({Index(rows.size()), n});
  Real* to = y.write().data();
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(x.data() + rows[i] * n, n, to + Index(i) * n);
  return y;
}

/// y[rows[i]] = x[i], zeros elsewhere.  x: [count, n] -> [N, n]
Tensor scattered(const Tensor& x, const std::vector<Index>& rows, Index all) {
  const Index n = x.shape().back();
  Tensor y({all, n}, 0);
  Real* to = y.write().data();
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(x.data() + Index(i) * n, n, to + rows[i] * n);
  return y;
}

void check(const char* op, const Var& x, const std::vector<Index>& rows, Index all) {
  core::require(x.shape().rank() == 2, op, ": input of shape ", x.shape(), ", expected [N, n]");
  for (std::size_t i = 0; i < rows.size(); ++i)
    core::require(rows[i] >= 0 && rows[i] < all && (i == 0 || rows[i] > rows[i - 1]), op,
                  ": rows must ascend below ", all);
}

}  // namespace

/// dx[rows[i]] = dy[i], zeros elsewhere.  Saves: the rows.
Var gather_rows(const Var& x, const RowNumbers& rows) {
  const Index all = x.shape().front();
  check("gather_rows", x, *rows, all);
  return record("gather_rows", gathered(x.value(), *rows), {x},
                [rows, all](const Tensor& dy) { return Gradients{scattered(dy, *rows, all)}; });
}

/// dx[i] = dy[rows[i]].  Saves: the rows.
Var scatter_rows(const Var& x, const RowNumbers& rows, Index all) {
  check("scatter_rows", x, *rows, all);
  core::require(x.shape().front() == Index(rows->size()), "scatter_rows: ", rows->size(),
                " places for an input of shape ", x.shape());
  return record("scatter_rows", scattered(x.value(), *rows, all), {x},
                [rows](const Tensor& dy) { return Gradients{gathered(dy, *rows)}; });
}

}  // namespace weft::autograd
