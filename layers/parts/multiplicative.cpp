#include "layers/parts/multiplicative.h"

#include <cmath>

#include "core/arrays/gemm.h"
#include "core/counters.h"

namespace weft::layers {

/// D from N(0, 0.5²) and E uniform by Glorot: Var(y) / Var(x) = W / (2 (W + M)).
Multiplicative::Multiplicative(Index width, Index modules, Index columns)
    : modules_({modules, width}, Init::normal(0.5)),
      columns_({columns, width}, Init::uniform(std::sqrt(6.0 / double(width + columns)))) {}

Var Multiplicative::table(const Pass& pass) const {
  return autograd::row_products(autograd::as_variable(pass, modules_),
                                autograd::as_variable(pass, columns_));
}

Var Multiplicative::forward(const Pass& pass, const Var& x) const {
  return autograd::matmul(x, table(pass), false, true);
}

void Multiplicative::step(const Real* x, Real* y) const {
  const Index S = modules_.shape()[0], M = columns_.shape()[0], width = modules_.shape()[1];
  Tensor scaled({S, width});
  Real* to = scaled.write().data();
  for (Index s = 0; s < S; ++s)
    for (Index i = 0; i < width; ++i) to[s * width + i] = x[i] * modules_.data()[s * width + i];
  core::parallel_gemm(1, core::ConstMatrix{to, S, width, width},
                      core::transposed({columns_.data(), M, width, width}), 0, {y, S, M, M});
  core::counters().weight_bytes.fetch_add(weights() * Index(sizeof(Real)),
                                          std::memory_order_relaxed);
}

}  // namespace weft::layers
