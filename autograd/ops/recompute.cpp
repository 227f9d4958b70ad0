#include "autograd/ops.h"

namespace weft::autograd {

/// y = f(x). The pullback runs f at x again on a private tape and sweeps it: dropout redraws its
/// masks, decisions are read back, states are left alone.  Saves: x.
Var recompute(const Pass& pass, const std::function<Var(const Pass&, const Var&)>& f,
              const Var& x) {
  if (!x.tape()) return f(pass, x);
  const TapeOptions options = x.tape()->options();
  Tensor y = f(pass.without_tape(), Var(x.value())).value();
  if (options.check_finite) {  // on a tape, so that an op inside f is named
    Tape checked(options);
    f(pass.replayed_on(checked), checked.watch(x.value()));
  }
  return record("recompute", std::move(y), {x}, [pass, f, options, saved = x.value()](Tensor dy) {
    Tape scratch(options);
    const Var in = scratch.watch(saved);
    const Var out = f(pass.replayed_on(scratch), in);
    scratch.sweep(out, std::move(dy));
    return Gradients{scratch.gradient(in)};
  });
}

}  // namespace weft::autograd
