#include "autograd/ops.h"

namespace weft::autograd {

/// y = f(x). The pullback runs f at x again on a private tape and sweeps it.  Saves: x.
Var recompute(const Pass& pass, const Sublayer& f, const Var& x) {
  if (!x.tape()) return f(pass, x);
  const TapeOptions options = x.tape()->options();
  return record("recompute", run_unrecorded(pass, f, x.value(), options), {x},
                [pass, f, options, saved = x.value()](Tensor dy) {
                  return Gradients{replay(pass, f, saved, std::move(dy), options)};
                });
}

}  // namespace weft::autograd
