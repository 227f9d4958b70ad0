#include <algorithm>

#include "autograd/module_plane.h"
#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/arrays/gemm.h"
#include "core/error.h"

namespace weft::autograd {
namespace {

/// Calls body(first token, tokens, windows) piece after piece; the windows of a piece stay in
/// cache.
template <class Body>
void each_piece(const ModulePlane& plane, Index tokens, const Body& body) {
  const Index each = plane.modules * plane.window();
  const Index most = std::clamp<Index>((1 << 20) / each, 1, std::max<Index>(tokens, 1));
  Tensor windows({most, each});
  for (Index first = 0; first < tokens; first += most)
    body(first, std::min(most, tokens - first), windows.write().data());
}

core::ConstMatrix windows_of(const ModulePlane& plane, const Real* windows, Index tokens) {
  return {windows, tokens * plane.modules, plane.window(), plane.window()};
}

/// Tokens of a plane as one row of channels for each module.
core::Matrix places(const ModulePlane& plane, Real* x, Index tokens) {
  return {x, tokens * plane.modules, plane.channels, plane.channels};
}

/// weight [F, C, in, out] -> [F, C, out, in]
Tensor with_swapped_channels(const Parameter& weight) {
  const Index M = weight.shape()[3];
  Tensor swapped(weight.shape());
  Real* to = swapped.write().data();
  for (Index tap = 0; tap < weight.shape()[0] * weight.shape()[1]; ++tap)
    for (Index i = 0; i < M; ++i)
      for (Index o = 0; o < M; ++o)
        to[(tap * M + o) * M + i] = weight.data()[(tap * M + i) * M + o];
  return swapped;
}

Tensor convolve(const ModulePlane& plane, const Tensor& x, const Parameter& weight,
                const Parameter* bias) {
  const Index rows = x.shape()[0], M = plane.channels;
  Tensor y(x.shape());
  Real* to = y.write().data();
  if (bias)
    for (Index place = 0; place < rows * plane.modules; ++place)
      std::copy_n(bias->data(), M, to + place * M);
  each_piece(plane, rows, [&](Index first, Index count, Real* windows) {
    plane.gather(x.data(), first, count, windows);
    core::parallel_gemm(1, windows_of(plane, windows, count),
                        core::ConstMatrix{weight.data(), plane.window(), M, M}, bias ? 1 : 0,
                        places(plane, to + first * plane.width(), count));
  });
  return y;
}

Tensor pull_back(const ModulePlane& plane, const Tensor& x, const Parameter& weight,
                 const Parameter* bias, Tensor dy) {
  const Index rows = x.shape()[0], M = plane.channels;
  if (bias && !bias->gradient().empty())
    add_row_sums(dy.reshaped({rows * plane.modules, M}), bias->gradient());
  const Tensor swapped = with_swapped_channels(weight);
  Tensor dx(x.shape());
  Real *d = dy.write().data(), *to = dx.write().data();
  each_piece(plane, rows, [&](Index first, Index count, Real* windows) {
    plane.gather_readers(d, first, count, windows);
    core::parallel_gemm(1, windows_of(plane, windows, count),
                        core::ConstMatrix{swapped.data(), plane.window(), M, M}, 0,
                        places(plane, to + first * plane.width(), count));
    if (weight.gradient().empty()) return;
    plane.gather(x.data(), first, count, windows);
    core::parallel_gemm(1, core::transposed(windows_of(plane, windows, count)),
                        places(plane, d + first * plane.width(), count), 1,
                        {weight.gradient().data(), plane.window(), M, M});
  });
  return dx;
}

}  // namespace

/// y[t, s] = bias + sum over taps a, c of x[t + a - F + 1, s + c - C / 2] weight[a, c].
/// dx[t, s] = sum over taps of dy[t - a + F - 1, s - c + C / 2] weight[a, c]^T,
/// dweight[a, c] = sum over t, s of x[t + a - F + 1, s + c - C / 2]^T dy[t, s], dbias = the sum of
/// dy over tokens and modules. The plane's windows are laid out piece by piece.  Saves: x.
Var module_convolution(const Var& x, const Parameter& weight, const Parameter* bias, Index length) {
  const Shape& w = weight.shape();
  core::require(w.rank() == 4 && w[2] == w[3] && w[1] % 2 == 1 && x.shape().rank() == 2 &&
                    x.shape()[1] % w[2] == 0 && length >= 1 && x.shape()[0] % length == 0,
                "module_convolution: x ", x.shape(), " in sequences of ", length, ", weight ", w);
  core::require(!bias || bias->shape() == Shape{w[3]}, "module_convolution: bias of shape ",
                bias ? bias->shape() : Shape{}, " for weight ", w);
  const ModulePlane plane{length, x.shape()[1] / w[2], w[2], w[0], w[1]};
  return record("module_convolution", convolve(plane, x.value(), weight, bias), {x},
                [plane, saved = x.value(), &weight, bias](Tensor dy) {
                  return Gradients{pull_back(plane, saved, weight, bias, std::move(dy))};
                });
}

}  // namespace weft::autograd
