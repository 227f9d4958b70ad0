#include "autograd/ops.h"
#include "core/arrays/gemm.h"
#include "core/error.h"

namespace weft::autograd {
namespace {

core::ConstMatrix matrix(const Tensor& x) {
  return {x.data(), x.shape()[0], x.shape()[1], x.shape()[1]};
}

Tensor product(const core::Operand& a, const core::Operand& b) {
  Tensor c({a.rows(), b.cols()});
  core::parallel_gemm(1, a, b, 0, {c.write().data(), a.rows(), b.cols(), b.cols()});
  return c;
}

}  // namespace

/// c = a b, each factor as stored or transposed.
/// da = dc b^T, db = a^T dc, transposed where the factor was.  Saves: a, b.
Var matmul(const Var& a, const Var& b, bool transpose_a, bool transpose_b) {
  core::require(a.shape().rank() == 2 && b.shape().rank() == 2 &&
                    a.shape()[transpose_a ? 0 : 1] == b.shape()[transpose_b ? 1 : 0],
                "matmul: ", a.shape(), transpose_a ? " transposed" : "", " times ", b.shape(),
                transpose_b ? " transposed" : "");
  Tensor c = product({matrix(a.value()), transpose_a}, {matrix(b.value()), transpose_b});
  return record(
      "matmul", std::move(c), {a, b},
      [x = a.value(), y = b.value(), transpose_a, transpose_b](Tensor dc) {
        const core::ConstMatrix g = matrix(dc);
        const core::Operand left(matrix(x), !transpose_a), right(matrix(y), !transpose_b);
        Tensor da =
            transpose_a ? product({matrix(y), transpose_b}, {g, true}) : product({g}, right);
        Tensor db = transpose_b ? product({g, true}, {matrix(x), transpose_a}) : product(left, {g});
        return Gradients{std::move(da), std::move(db)};
      });
}

}  // namespace weft::autograd
