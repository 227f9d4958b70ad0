#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd {

/// The mean of all elements: their sum, scaled.
Var mean(const Var& x) {
  core::require(x.value().size() > 0, "mean: of no elements");
  return scale(sum(x), Real(1) / Real(x.value().size()));
}

}  // namespace weft::autograd
