#pragma once

#include <cstdint>

#include "core/real.h"

namespace weft::core {

/// What one Adam pass over a stretch of parameters needs to know.
struct AdamRule {
  Real rate, beta1, beta2, eps;
  /// 1 / (1 - beta^t) of both moments.
  Real correction1, correction2;
  /// Multiplies the gradient (clipping, averaging over micro-batches).
  Real gradient_scale;
  /// Decoupled weight decay, already times the rate; 0 for vectors.
  Real shrink;
  /// Added to the gradient as decay * parameter (plain Adam); 0 for AdamW.
  Real decay;
};

/// The vector kernels, compiled once for each instruction set and chosen at run time.
/// All work on contiguous elements; n may be any length; no loop is peeled by alignment.
struct SimdKernels {
  const char* isa;
  Index lanes;

  Real (*sum)(const Real* x, Index n);
  Real (*dot)(const Real* x, const Real* y, Index n);
  Real (*max)(const Real* x, Index n);
  void (*scale)(Real a, Real* x, Index n);
  /// out = x + y
  void (*add)(const Real* x, const Real* y, Real* out, Index n);
  /// y += a x
  void (*axpy)(Real a, const Real* x, Real* y, Index n);
  /// out = x y, element by element
  void (*multiply)(const Real* x, const Real* y, Real* out, Index n);
  /// out += x y, element by element
  void (*multiply_add)(const Real* x, const Real* y, Real* out, Index n);

  /// x = exp(scale * x - shift); returns the sum.
  Real (*exp_sum)(Real* x, Real scale, Real shift, Index n);
  /// out = exp(x - y)
  void (*exp_difference)(const Real* x, const Real* y, Real* out, Index n);
  /// s = p * (s - delta) * scale, the gradient of attention scores (s holds dO V^T); 0 where p is
  /// 1, since a row with one key does not depend on its score and s - delta is rounding only.
  void (*score_gradient)(const Real* p, Real* s, Real delta, Real scale, Index n);

  /// s = low where position >= limit; returns how many elements stay.
  Index (*keep_below)(Real* s, const Real* position, Real limit, Real low, Index n);
  /// y = x m, one row.  x: [d], m: [d, cols] -> [cols]. Each sum runs over d in order, so that a
  /// token gives the same bits alone and among others.
  void (*project)(const Real* x, const Real* m, Real* y, Index d, Index cols);

  /// Of rows of d numbers, `stride` apart, those at `index`. y[i] = x . row index[i], the same bits
  /// among others as alone.
  void (*dots)(const Real* x, const Real* rows, Index stride, const std::int32_t* index, Real* y,
               Index count, Index d);
  /// y += sum_i a[i] row index[i], in order.
  void (*add_rows)(const Real* a, const Real* rows, Index stride, const std::int32_t* index,
                   Real* y, Index count, Index d);
  /// row index[i] += a[i] x
  void (*add_outer)(const Real* a, const Real* x, Real* rows, Index stride,
                    const std::int32_t* index, Index count, Index d);

  /// y = gelu(x + bias)
  void (*bias_gelu)(const Real* x, const Real* bias, Real* y, Index n);
  /// d *= gelu'(x + bias)
  void (*bias_gelu_gradient)(const Real* x, const Real* bias, Real* d, Index n);
  /// y = max(x, 0)
  void (*relu)(const Real* x, Real* y, Index n);
  /// d = 0 where y <= 0
  void (*relu_gradient)(const Real* y, Real* d, Index n);
  /// y = elu(x) + 1: x + 1 above 0, e^x below
  void (*elu_plus_one)(const Real* x, Real* y, Index n);
  /// d *= min(y, 1)
  void (*elu_plus_one_gradient)(const Real* y, Real* d, Index n);
  /// y = ln(1 + e^x)
  void (*softplus)(const Real* x, Real* y, Index n);
  /// d *= 1 - e^-y
  void (*softplus_gradient)(const Real* y, Real* d, Index n);
  /// y = 1 / (1 + e^-x)
  void (*logistic)(const Real* x, Real* y, Index n);

  /// y = (x - mean) / sqrt(variance + eps) * gain + bias; fills mean and the reciprocal deviation.
  void (*layer_norm)(const Real* x, const Real* gain, const Real* bias, Real eps, Real* y,
                     Real* mean, Real* inverse, Index n);
  /// Gradient of one row of layer_norm: writes dx, adds to dgain and dbias.
  void (*layer_norm_gradient)(const Real* x, const Real* gain, const Real* dy, Real mean,
                              Real inverse, Real* dx, Real* dgain, Real* dbias, Index n);

  /// y = x / sqrt(mean(x^2) + eps) * gain; fills the reciprocal root.
  void (*rms_norm)(const Real* x, const Real* gain, Real eps, Real* y, Real* inverse, Index n);
  /// Gradient of one row of rms_norm: writes dx, adds to dgain.
  void (*rms_norm_gradient)(const Real* x, const Real* gain, const Real* dy, Real inverse, Real* dx,
                            Real* dgain, Index n);

  /// y = the upper halves of the floats x, rounded to nearest, even on ties.
  void (*round_to_bf16)(const Real* x, std::uint16_t* y, Index n);

  void (*adam)(const AdamRule& rule, const Real* gradient, Real* parameter, Real* m, Real* v,
               Index n);
};

/// The kernels of the best instruction set this machine has, or of WEFT_ISA when it is set to
/// "baseline", "avx2" or "avx512".
const SimdKernels& simd();

namespace baseline {
extern const SimdKernels kernels;
}
namespace avx2 {
extern const SimdKernels kernels;
}
namespace avx512 {
extern const SimdKernels kernels;
}

}  // namespace weft::core
