#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::penalise_gradient_test {
namespace {

using tests::check_gradient;
using Inputs = std::vector<Var>;

// A layer whose inner activations cost a tenth of their mean.
Var priced(const Pass& pass, const Var& x, const Parameter& weight) {
  const Var h = relu(linear(x, weight));
  return penalise(pass, h, scale(mean(h), Real(0.1)));
}

// Once as it stands, once inside a part that is run again.
Var loss(const Pass& pass, const Var& x, const Parameter& weight, bool replayed) {
  const auto part = [&](const Pass& p, const Var& in) { return priced(p, in, weight); };
  const Var y = replayed ? recompute(pass, part, x) : part(pass, x);
  return add(mean(y), scale(penalties(pass), Real(0.7)));
}

TEST(PenaliseGradient, agrees_with_differences) {
  for (const bool replayed : {false, true}) {
    Parameter weight({5, 4}, Init::zeros());
    const auto run = [&](const Pass& pass, const Inputs& x) {
      return loss(pass, x[0], weight, replayed);
    };
    check_gradient("penalise", run, {tests::random_tensor({6, 4}, 1)}, {&weight});
    check_gradient("penalties", run, {tests::random_tensor({6, 4}, 2)}, {&weight});
  }
}

}  // namespace
}  // namespace weft::autograd::penalise_gradient_test
