#include "layers/parts/activation.h"

#include <vector>

#include "autograd/kept_rows.h"
#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// 2 sqrt(2 / pi)
constexpr Real slope_at_zero = Real(1.59576912160573071176);
constexpr Real cubic = Real(0.044715);

/// z = x + bias and open = (1 + tanh(u)) / 2 = logistic(2 u), n numbers each.
void open_units(const Real* x, const Real* bias, Real* z, Real* open, Index n) {
  for (Index i = 0; i < n; ++i) {
    z[i] = x[i] + bias[i];
    open[i] = slope_at_zero * z[i] * (1 + cubic * z[i] * z[i]);
  }
  core::simd().logistic(open, open, n);
}

}  // namespace

const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::relu:
      return "relu";
  }
  return "";
}

/// y = z s with s = logistic(2 u).  dx = dy (s + z s (1 - s) 2 u'), dbias = its column sums.
/// Saves: x, rounded if kept in bf16.
Var bias_gelu_tanh(const Var& x, const Parameter& bias, core::Precision kept) {
  core::require(x.shape().rank() >= 1 && bias.shape() == core::Shape{x.shape().back()},
                "bias_gelu_tanh: bias of shape ", bias.shape(), " for input ", x.shape());
  const Index n = x.shape().back(), rows = x.shape().rows();
  Tensor y(x.shape());
  Real* to = y.write().data();
  const Real* from = x.value().data();
  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
    std::vector<Real> z(std::size_t(n), 0);
    for (Index r = begin; r < end; ++r) {
      open_units(from + r * n, bias.data(), z.data(), to + r * n, n);
      core::simd().multiply(z.data(), to + r * n, to + r * n, n);
    }
  });
  if (!x.tape()) return y;
  const auto pull_back = [saved = autograd::KeptRows(x.value(), kept), &bias, n, rows](Tensor dy) {
    Real* dx = dy.write().data();
    const auto pull = [&](Index begin, Index end, Real* sums) {
      std::vector<Real> z(std::size_t(n), 0), open(std::size_t(n), 0);
      for (Index r = begin; r < end; ++r) {
        open_units(saved.row(r, z.data()), bias.data(), z.data(), open.data(), n);
        Real* d = dx + r * n;
        for (Index i = 0; i < n; ++i)
          d[i] *=
              open[i] * (1 + (1 - open[i]) * slope_at_zero * z[i] * (1 + 3 * cubic * z[i] * z[i]));
        core::simd().axpy(1, d, sums, n);
      }
    };
    autograd::sum_over_rows(rows, n, bias.gradient(), pull);
    return autograd::Gradients{std::move(dy)};
  };
  return autograd::record("bias_gelu_tanh", std::move(y), {x}, pull_back);
}

Var hidden_units(Activation activation, const Linear& in, const Var& x) {
  if (activation == Activation::relu) return autograd::relu(in.forward(x));
  const bool rounds = x.tape() && in.weight().rounded().data;
  const auto kept = rounds ? core::Precision::bf16 : core::Precision::float32;
  if (activation == Activation::gelu_tanh) return bias_gelu_tanh(in.product(x), in.bias(), kept);
  return autograd::bias_gelu(in.product(x), in.bias(), kept);
}

}  // namespace weft::layers
