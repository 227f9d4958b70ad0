#pragma once

#include "layers/parts/norm.h"

namespace weft::layers {

enum class NormPlace { pre, post };

/// How a sublayer joins its residual stream of W columns.
struct ResidualForm {
  Index width = 0;
  NormPlace place = NormPlace::pre;
  Real dropout = 0;
  NormKind norm = NormKind::layer;
  double norm_eps = Norm::usual_eps;
};

/// A sublayer f with its residual. `onto(residual, x)` adds f(x) to the residual in one pass over
/// the output; with dropout in between, f(x) is made first, by `branch(x)`.
///   pre:   x + dropout(f(norm(x)))        post:   norm(x + dropout(f(x)))
template <class Onto, class Branch>
Var residual(const Pass& pass, const Var& x, const Norm& norm, NormPlace place, Real dropout,
             const Onto& onto, const Branch& branch) {
  const Var in = place == NormPlace::pre ? norm.forward(pass, x) : x;
  const bool drops = pass.training() && dropout > 0;
  const Var sum =
      drops ? autograd::add(x, autograd::dropout(pass, branch(in), dropout)) : onto(x, in);
  return place == NormPlace::pre ? sum : norm.forward(pass, sum);
}

}  // namespace weft::layers
