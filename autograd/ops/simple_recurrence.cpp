#include <cmath>
#include <numbers>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

constexpr Real highway = std::numbers::sqrt3_v<Real>;  ///< keeps the variance of what passes by

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

/// One column of one sequence: rows of gates [T, 3 n] and of x, c, y [T, n].
struct Column {
  Index length, n;

  /// c and y of one token, given c of the one before.
  void step(const Real* gates, Real x, Real before, Real& c, Real& y) const {
    const Real keep = sigmoid(gates[n]), open = sigmoid(gates[2 * n]);
    c = keep * before + (1 - keep) * gates[0];
    y = open * c + highway * (1 - open) * x;
  }

  void run(const Real* gates, const Real* x, Real* c, Real* y) const {
    for (Index t = 0; t < length; ++t)
      step(gates + 3 * n * t, x[n * t], t > 0 ? c[n * (t - 1)] : 0, c[n * t], y[n * t]);
  }

  void pull_back(const Real* gates, const Real* x, const Real* c, const Real* dy, Real* dgates,
                 Real* dx) const {
    Real later = 0;  // the gradient that the next token's state sends back
    for (Index t = length - 1; t >= 0; --t) {
      const Real* g = gates + 3 * n * t;
      const Real d = dy[n * t];
      const Real keep = sigmoid(g[n]), open = sigmoid(g[2 * n]);
      const Real before = t > 0 ? c[n * (t - 1)] : 0, dc = open * d + later;
      Real* to = dgates + 3 * n * t;
      to[0] = dc * (1 - keep);
      to[n] = dc * (before - g[0]) * keep * (1 - keep);
      to[2 * n] = d * (c[n * t] - highway * x[n * t]) * open * (1 - open);
      dx[n * t] = highway * (1 - open) * d;
      later = dc * keep;
    }
  }
};

}  // namespace

/// With gates z | f | r side by side, k = sigmoid(f), o = sigmoid(r), along each sequence:
///   c_t = k_t c_(t-1) + (1 - k_t) z_t,  y_t = o_t c_t + sqrt(3) (1 - o_t) x_t.
/// Backward from the last token, dc_t = o_t dy_t + k_(t+1) dc_(t+1):
///   dz = dc (1 - k), df = dc (c_(t-1) - z) k (1 - k), dr = dy (c - sqrt(3) x) o (1 - o),
///   dx = sqrt(3) (1 - o) dy.  Saves: gates, x, c.
Var simple_recurrence(const Var& gates, const Var& x, Index length) {
  core::require(x.shape().rank() == 2 && gates.shape() == Shape{x.shape()[0], 3 * x.shape()[1]} &&
                    length >= 1 && x.shape()[0] % length == 0,
                "simple_recurrence: gates ", gates.shape(), " and x ", x.shape(),
                " in sequences of ", length);
  const Index n = x.shape()[1], batch = x.shape()[0] / length;
  const Column column{length, n};
  Tensor y(x.shape()), c(x.shape());
  Real *out = y.write().data(), *kept = c.write().data();
  const Real *g = gates.value().data(), *in = x.value().data();
  core::parallel_for(batch, 1, [=](Index b, Index) {
    for (Index i = b * length * n; i < b * length * n + n; ++i)
      column.run(g + 2 * b * length * n + i, in + i, kept + i, out + i);
  });
  return record("simple_recurrence", std::move(y), {gates, x},
                [column, batch, length, n, saved = gates.value(), from = x.value(),
                 c = std::move(c)](Tensor dy) {
                  Tensor dgates(saved.shape()), dx(from.shape());
                  Real *to = dgates.write().data(), *to_x = dx.write().data();
                  core::parallel_for(batch, 1, [&](Index b, Index) {
                    for (Index i = b * length * n; i < b * length * n + n; ++i)
                      column.pull_back(saved.data() + 2 * b * length * n + i, from.data() + i,
                                       c.data() + i, dy.data() + i, to + 2 * b * length * n + i,
                                       to_x + i);
                  });
                  return Gradients{std::move(dgates), std::move(dx)};
                });
}

void step_recurrence(std::span<const Real> gates, std::span<const Real> x, std::span<Real> c,
                     std::span<Real> y) {
  const Column column{1, Index(x.size())};
  for (std::size_t i = 0; i < x.size(); ++i) column.step(gates.data() + i, x[i], c[i], c[i], y[i]);
}

}  // namespace weft::autograd
