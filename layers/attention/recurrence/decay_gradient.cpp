#include "layers/attention/recurrence/decay_gradient.h"

#include <algorithm>
#include <numeric>

namespace weft::layers {
namespace {

/// x . y in double, in eight sums.
double dot(const Real* x, const Real* y, Index n) {
  double sums[8] = {};
  Index i = 0;
  for (; i + 8 <= n; i += 8)
    for (Index lane = 0; lane < 8; ++lane) sums[lane] += double(x[i + lane]) * double(y[i + lane]);
  for (; i < n; ++i) sums[0] += double(x[i]) * double(y[i]);
  return std::accumulate(std::begin(sums), std::end(sums), 0.0);
}

/// Before the first token there is nothing to decay, after the real ones nothing decays.
bool decays_nothing(const ChunkState& chunk, Index r) {
  const bool first = chunk.span.first + r == 0 && !chunk.inputs.initial;
  return first || r >= chunk.span.real;
}

}  // namespace

void DecayGradient::pull_back_tokens(const ChunkState& chunk, const ChunkGradients& gradients,
                                     const core::Matrix& s, const core::Matrix& ds,
                                     const Gates& to) {
  const Index n = chunk.span.rows, width = chunk.problem.width;
  const core::Matrix readers = chunk.rows.readers(), keys = chunk.rows.keys();
  const auto at = [width](const core::Matrix& x, Index r) { return x.data + r * width; };
  // What no token of the chunk adds to: the state that decays over all of it.
  double total = chunk.decay.whole() * dot(s.data, ds.data, width * width);
  std::fill_n(columns_.begin(), n, 0.0);
  for (Index i = 0; i < gradients.pairs.rows; ++i) {
    const Real *p = gradients.pairs.data + i * n, *dp = gradients.dpairs.data + i * n;
    for (Index j = 0; j <= i % n; ++j) columns_[std::size_t(j)] += double(p[j]) * double(dp[j]);
  }
  for (Index j = 0; j < n; ++j) total += dot(at(keys, j), at(gradients.dkeys, j), width);
  for (Index r = n - 1; r >= 0; --r) {
    total -= dot(at(keys, r), at(gradients.dkeys, r), width) + columns_[std::size_t(r)];
    for (Index i = r; i < gradients.pairs.rows; i += n)
      total += dot(at(readers, i), at(gradients.dreaders, i), width) +
               dot(gradients.pairs.data + i * n, gradients.dpairs.data + i * n, r + 1);
    to.data[(chunk.span.token + r) * to.stride + chunk.lane.head] =
        decays_nothing(chunk, r) ? Real(0) : Real(total);
  }
}

void DecayGradient::pull_back_columns(const ChunkState& chunk, const core::Matrix& dreaders,
                                      const core::Matrix& dkeys, const core::Matrix& s,
                                      const core::Matrix& ds, const Gates& to) {
  const Index n = chunk.span.rows, width = chunk.problem.width;
  const core::Matrix readers = chunk.rows.readers(), keys = chunk.rows.keys();
  const auto add = [this, width](const core::Matrix& x, const core::Matrix& dx, Index row,
                                 double sign) {
    const Real *own = x.data + row * width, *d = dx.data + row * width;
    for (Index c = 0; c < width; ++c) sum_[std::size_t(c)] += sign * double(own[c]) * double(d[c]);
  };
  for (Index c = 0; c < width; ++c)
    sum_[std::size_t(c)] = dot(s.data + c * width, ds.data + c * width, width);
  for (Index r = n - 1; r >= 0; --r) {
    add(readers, dreaders, r, 1);
    if (chunk.problem.erases()) add(readers, dreaders, n + r, 1);
    add(keys, dkeys, r, -1);
    Real* dg = to.data + (chunk.span.token + r) * to.stride + chunk.lane.head * width;
    if (decays_nothing(chunk, r))
      std::fill_n(dg, width, Real(0));
    else
      std::ranges::transform(sum_, dg, [](double own) { return Real(own); });
  }
}

}  // namespace weft::layers
