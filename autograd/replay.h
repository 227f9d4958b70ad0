#pragma once

#include <functional>

#include "autograd/pass.h"

namespace weft::autograd {

/// A function of one variable at a place of the model.
using Sublayer = std::function<Var(const Pass&, const Var&)>;

/// f(x), nothing recorded. Where `options` ask for finite values, f runs once more on a tape that
/// checks them, so that the op inside is named.
Tensor run_unrecorded(const Pass& pass, const Sublayer& f, const Tensor& x,
                      const TapeOptions& options);

/// Runs f at x again on a private tape and pulls dy back: the gradient of x. Dropout redraws its
/// masks, decisions are read back, states are left alone. `see` is shown f(x) before the sweep,
/// which drops it.
Tensor replay(const Pass& pass, const Sublayer& f, const Tensor& x, Tensor dy,
              const TapeOptions& options, const std::function<void(const Tensor&)>& see = {});

}  // namespace weft::autograd
