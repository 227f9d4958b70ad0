#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

/// x[i] times a number drawn evenly from [1 - amount, 1 + amount).
Tensor jittered(const Tensor& x, const core::Rng& stream, double amount) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  const Real* from = x.data();
  core::parallel_for(x.size(), core::elementwise_grain, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      to[i] = from[i] * Real(1 + amount * (2 * stream.uniform(std::uint64_t(i)) - 1));
  });
  return y;
}

}  // namespace

/// y = x u with u drawn evenly from [1 - amount, 1 + amount).  dx = dy u.
/// Saves: nothing; the pullback draws the same numbers from the pass's stream again.
Var jitter(const Pass& pass, const Var& x, double amount) {
  core::require(amount >= 0 && amount <= 1, "jitter: needs an amount in [0, 1], got ", amount);
  if (!pass.training() || amount == 0) return x;
  const core::Rng stream = pass.stream().fold("jitter");
  return record("jitter", jittered(x.value(), stream, amount), {x},
                [stream, amount](Tensor dy) { return Gradients{jittered(dy, stream, amount)}; });
}

}  // namespace weft::autograd
