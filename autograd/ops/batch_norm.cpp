#include <cmath>

#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

void check(const char* op, const Var& x, const Parameter& gain, const Parameter& bias) {
  const Index n = x.shape().rank() ? x.shape().back() : 0;
  core::require(
      n > 0 && x.shape().rows() > 0 && gain.shape() == Shape{n} && bias.shape() == Shape{n}, op,
      ": gain ", gain.shape(), " and bias ", bias.shape(), " for input ", x.shape());
}

/// 1 / sqrt(variance + eps) of each column.
Tensor inverse_deviations(const Tensor& moments, Real eps) {
  const Index n = moments.shape().back();
  Tensor inverse({n});
  for (Index c = 0; c < n; ++c)
    inverse.write()[std::size_t(c)] = 1 / std::sqrt(moments.data()[n + c] + eps);
  return inverse;
}

/// y = (x - mean) inverse gain + bias, column by column.
Tensor normalise(const Tensor& x, const Tensor& moments, const Tensor& inverse,
                 const Parameter& gain, const Parameter& bias) {
  const Index n = x.shape().back();
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(x.shape().rows(), core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      for (Index c = 0; c < n; ++c)
        to[r * n + c] =
            (x.data()[r * n + c] - moments.data()[c]) * inverse.data()[c] * gain.data()[c] +
            bias.data()[c];
  });
  return y;
}

/// [2, n]: column sums of dy h, which is dgain, and of dy, which is dbias; both are added to the
/// parameters' gradients.
Tensor parameter_gradients(const Tensor& x, const Tensor& dy, const Tensor& moments,
                           const Tensor& inverse, const Parameter& gain, const Parameter& bias) {
  const Index n = x.shape().back();
  Tensor sums({2, n}, 0);
  sum_over_rows(x.shape().rows(), 2 * n, sums.write(), [&](Index begin, Index end, Real* to) {
    for (Index r = begin; r < end; ++r)
      for (Index c = 0; c < n; ++c) {
        const Real d = dy.data()[r * n + c];
        to[c] += d * (x.data()[r * n + c] - moments.data()[c]) * inverse.data()[c];
        to[n + c] += d;
      }
  });
  for (std::size_t c = 0; c < gain.gradient().size(); ++c) gain.gradient()[c] += sums.read()[c];
  for (std::size_t c = 0; c < bias.gradient().size(); ++c)
    bias.gradient()[c] += sums.read()[std::size_t(n) + c];
  return sums;
}

}  // namespace

/// Two passes: squares are taken about the mean.
Tensor column_moments(const Tensor& x) {
  const Index n = x.shape().back(), rows = x.shape().rows();
  Tensor moments({2, n}, 0);
  const std::span<Real> mean = moments.write().first(std::size_t(n)),
                        variance = moments.write().subspan(std::size_t(n));
  add_row_sums(x, mean);
  for (Real& m : mean) m /= Real(rows);
  sum_over_rows(rows, n, variance, [&](Index begin, Index end, Real* sums) {
    for (Index r = begin; r < end; ++r)
      for (Index c = 0; c < n; ++c) {
        const Real d = x.data()[r * n + c] - mean[std::size_t(c)];
        sums[c] += d * d;
      }
  });
  for (Real& v : variance) v /= Real(rows);
  return moments;
}

/// y = h gain + bias with h = (x - mean) / sqrt(variance + eps), moments taken over all M rows.
/// dx = (M g - sum(g) - h sum(g h)) / (M deviation) with g = gain dy; dgain = sum dy h,
/// dbias = sum dy.  Saves: x and the moments.
Var batch_norm(const Var& x, const Parameter& gain, const Parameter& bias, Real eps,
               const Tensor& moments) {
  check("batch_norm", x, gain, bias);
  const Tensor inverse = inverse_deviations(moments, eps);
  return record("batch_norm", normalise(x.value(), moments, inverse, gain, bias), {x},
                [saved = x.value(), moments, inverse, &gain, &bias](Tensor dy) {
                  const Index n = saved.shape().back(), rows = saved.shape().rows();
                  const Tensor sums = parameter_gradients(saved, dy, moments, inverse, gain, bias);
                  Real* d = dy.write().data();
                  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
                    for (Index r = begin; r < end; ++r)
                      for (Index c = 0; c < n; ++c) {
                        const Real h =
                            (saved.data()[r * n + c] - moments.data()[c]) * inverse.data()[c];
                        const Real centred =
                            d[r * n + c] - (sums.data()[n + c] + h * sums.data()[c]) / Real(rows);
                        d[r * n + c] = gain.data()[c] * inverse.data()[c] * centred;
                      }
                  });
                  return Gradients{std::move(dy)};
                });
}

/// The same with moments that do not depend on x.
/// dx = dy gain / sqrt(variance + eps).  Saves: x and the moments.
Var frozen_norm(const Var& x, const Parameter& gain, const Parameter& bias, Real eps,
                const Tensor& moments) {
  check("frozen_norm", x, gain, bias);
  const Tensor inverse = inverse_deviations(moments, eps);
  return record("frozen_norm", normalise(x.value(), moments, inverse, gain, bias), {x},
                [saved = x.value(), moments, inverse, &gain, &bias](Tensor dy) {
                  const Index n = saved.shape().back();
                  parameter_gradients(saved, dy, moments, inverse, gain, bias);
                  Real* d = dy.write().data();
                  for (Index i = 0; i < saved.size(); ++i)
                    d[i] *= gain.data()[i % n] * inverse.data()[i % n];
                  return Gradients{std::move(dy)};
                });
}

}  // namespace weft::autograd
