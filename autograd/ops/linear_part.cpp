#include <algorithm>

#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/arrays/gemm.h"
#include "core/error.h"

namespace weft::autograd {

/// y = x weight[first .. first + count)^T + bias[first .. first + count).
/// The parameters' rows get dy^T x and the column sums of dy.  Saves: x.
Var linear_part(const Pass& pass, const Tensor& x, const Parameter& weight, const Parameter& bias,
                Index first, Index count) {
  const Index in = weight.shape()[1], rows = x.shape().rows();
  core::require(x.shape().back() == in && first >= 0 && first + count <= weight.shape()[0] &&
                    bias.shape() == Shape{weight.shape()[0]},
                "linear_part: input of shape ", x.shape(), " for rows [", first, ", ",
                first + count, ") of a weight of shape ", weight.shape());
  Tensor y({rows, count});
  Real* to = y.write().data();
  for (Index r = 0; r < rows; ++r) std::copy_n(bias.data() + first, count, to + r * count);
  core::parallel_gemm(1, core::ConstMatrix{x.data(), rows, in, in},
                      core::transposed({weight.data() + first * in, count, in, in}), 1,
                      {to, rows, count, count});
  if (!pass.tape()) return Var(std::move(y));
  return pass.tape()->record(
      "linear_part", std::move(y), {}, [x, &weight, &bias, first, count, in](Tensor dy) {
        if (weight.gradient().empty()) return Gradients{};
        const Index n = x.shape().rows();
        core::parallel_gemm(1, core::transposed({dy.data(), n, count, count}),
                            core::ConstMatrix{x.data(), n, in, in}, 1,
                            {weight.gradient().data() + first * in, count, in, in});
        add_row_sums(dy, bias.gradient().subspan(std::size_t(first), std::size_t(count)));
        return Gradients{};
      });
}

}  // namespace weft::autograd
