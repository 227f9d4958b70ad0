#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

/// Adds x y to `to`, element by element.
void add_product(const Real* x, const Real* y, Real* to, Index n) {
  for (Index i = 0; i < n; ++i) to[i] += x[i] * y[i];
}

}  // namespace

/// y[s m + k] = a[s] b[k], element by element.
/// da[s] = sum_k dy[s m + k] b[k], db[k] = sum_s dy[s m + k] a[s].  Saves: a, b.
Var row_products(const Var& a, const Var& b) {
  core::require(a.shape().rank() == 2 && b.shape().rank() == 2 && a.shape()[1] == b.shape()[1],
                "row_products: ", a.shape(), " and ", b.shape(), " have no common width");
  const Index S = a.shape()[0], M = b.shape()[0], n = a.shape()[1];
  Tensor y({S * M, n}, 0);
  Real* to = y.write().data();
  const Real *first = a.value().data(), *second = b.value().data();
  core::parallel_for(S * M, core::rows_per_piece(n), [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      add_product(first + r / M * n, second + r % M * n, to + r * n, n);
  });
  return record("row_products", std::move(y), {a, b},
                [x = a.value(), z = b.value(), S, M, n](Tensor dy) {
                  Tensor dx({S, n}, 0), dz({M, n}, 0);
                  Real *to_x = dx.write().data(), *to_z = dz.write().data();
                  const Real* d = dy.data();
                  core::parallel_for(S, 1, [&](Index s, Index) {
                    for (Index k = 0; k < M; ++k)
                      add_product(d + (s * M + k) * n, z.data() + k * n, to_x + s * n, n);
                  });
                  core::parallel_for(M, core::rows_per_piece(S * n), [&](Index begin, Index end) {
                    for (Index k = begin; k < end; ++k)
                      for (Index s = 0; s < S; ++s)
                        add_product(d + (s * M + k) * n, x.data() + s * n, to_z + k * n, n);
                  });
                  return Gradients{std::move(dx), std::move(dz)};
                });
}

}  // namespace weft::autograd
