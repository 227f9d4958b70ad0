#include "tests/gradient_check.h"
#include "tests/layers/attention/recurrence_sample.h"

namespace weft::layers::recurrence_gradient_test {
namespace {

// Only what the problem has is an input; a decay for each head is a constant.
void expect_gradient(const RecurrenceSample& it) {
  std::vector<Tensor> inputs;
  std::vector<std::size_t> places;
  const std::vector<Tensor> all = it.inputs();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].size() > 0 && !(i == 3 && it.problem.decay == GateForm::head)) {
      inputs.push_back(all[i]);
      places.push_back(i);
    }
  tests::check_gradient(
      "recurrence",
      [&](const Pass&, const std::vector<Var>& in) {
        std::vector<Var> vars(all.begin(), all.end());
        for (std::size_t i = 0; i < in.size(); ++i) vars[places[i]] = in[i];
        return recur(it.problem, RecurrenceSample::vars(vars));
      },
      inputs);
}

TEST(RecurrenceGradient, agrees_with_differences_in_every_form) {
  for (const Index length : {1, 2, 15, 64, 65, 130})
    for (const RecurrenceProblem& p : recurrence_forms(length, 4))
      for (const bool initial : {false, true}) {
        SCOPED_TRACE(describe(p));
        expect_gradient(RecurrenceSample(p, 0.3, initial));
      }
}

TEST(RecurrenceGradient, agrees_with_differences_under_strong_decays_and_with_padding) {
  for (RecurrenceProblem p : recurrence_forms(70, 4)) {
    SCOPED_TRACE(describe(p));
    expect_gradient(RecurrenceSample(p, 30, true));
    p.sequences.key_lengths =
        std::make_shared<const std::vector<Index>>(std::vector<Index>{41, 70});
    expect_gradient(RecurrenceSample(p, 0.3));
  }
}

}  // namespace
}  // namespace weft::layers::recurrence_gradient_test
