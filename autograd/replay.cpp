#include "autograd/replay.h"

namespace weft::autograd {

Tensor run_unrecorded(const Pass& pass, const Sublayer& f, const Tensor& x,
                      const TapeOptions& options) {
  Tensor y = f(pass.without_tape(), Var(x)).value();
  if (options.check_finite) {
    Tape checked(options.inside_op());
    f(pass.replayed_on(checked), checked.watch(x));
  }
  return y;
}

Tensor replay(const Pass& pass, const Sublayer& f, const Tensor& x, Tensor dy,
              const TapeOptions& options, const std::function<void(const Tensor&)>& see) {
  Tape scratch(options.inside_op());
  const Var in = scratch.watch(x);
  Var out = f(pass.replayed_on(scratch), in);
  if (see) see(out.value());
  scratch.sweep(std::move(out), std::move(dy));
  return scratch.gradient(in);
}

}  // namespace weft::autograd
