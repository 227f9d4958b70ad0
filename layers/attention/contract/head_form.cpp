#include "layers/attention/contract/head_form.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// No vector is taken for shorter than this.
constexpr Real shortest = Real(1e-12);

Real length_of(const Real* x, Real eps, Index width) {
  return std::max(std::sqrt(core::simd().dot(x, x, width) + eps), shortest);
}

struct Moments {
  Real mean, inverse;
};

Moments moments_of(const Real* x, Real eps, Index width) {
  const Real mean = core::simd().sum(x, width) / Real(width);
  Real squares = 0;
  for (Index d = 0; d < width; ++d) squares += (x[d] - mean) * (x[d] - mean);
  return {mean, 1 / std::sqrt(squares / Real(width) + eps)};
}

void for_each_head(Index tokens, Index heads, Index width,
                   const std::function<void(Index token, Index column)>& body) {
  core::parallel_for(tokens, core::rows_per_piece(heads * width), [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t)
      for (Index h = 0; h < heads; ++h) body(t, h * width);
  });
}

}  // namespace

void HeadForm::apply(const Real* x, Real* y, Index width) const {
  if (law == Law::given) {
    std::copy_n(x, width, y);
  } else if (law == Law::unit) {
    const Real factor = 1 / length_of(x, eps, width);
    for (Index d = 0; d < width; ++d) y[d] = factor * x[d];
  } else {
    const auto [mean, inverse] = moments_of(x, eps, width);
    for (Index d = 0; d < width; ++d) y[d] = (x[d] - mean) * inverse;
  }
}

void HeadForm::pull_back(const Real* x, const Real* dy, Real* dx, Index width) const {
  if (law == Law::given) {
    core::simd().add(dx, dy, dx, width);
  } else if (law == Law::unit) {
    const Real factor = 1 / length_of(x, eps, width);
    const Real along = factor * factor * core::simd().dot(x, dy, width);
    for (Index d = 0; d < width; ++d) dx[d] += factor * (dy[d] - along * x[d]);
  } else {
    const auto [mean, inverse] = moments_of(x, eps, width);
    const Real level = core::simd().sum(dy, width) / Real(width);
    const Real along =
        (core::simd().dot(x, dy, width) / Real(width) - mean * level) * inverse * inverse;
    for (Index d = 0; d < width; ++d) dx[d] += inverse * (dy[d] - level - along * (x[d] - mean));
  }
}

Tensor form_heads(const HeadForm& form, ConstHeads x, Index tokens, Index heads, Index width) {
  Tensor y({tokens, heads * width});
  Real* to = y.write().data();
  for_each_head(tokens, heads, width, [&](Index t, Index column) {
    form.apply(x.data + t * x.stride + column, to + t * heads * width + column, width);
  });
  return y;
}

void pull_back_heads(const HeadForm& form, ConstHeads x, const Tensor& dy, Index heads, Index width,
                     Heads dx) {
  for_each_head(dy.shape()[0], heads, width, [&](Index t, Index column) {
    form.pull_back(x.data + t * x.stride + column, dy.data() + t * heads * width + column,
                   dx.data + t * dx.stride + column, width);
  });
}

}  // namespace weft::layers
