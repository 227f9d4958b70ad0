#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::span_gradient_test {
namespace {

void expect_gradient(const std::string& kind, const Sequences& s, const tests::Settings& settings) {
  AttentionSample it(kind, s, 2, 5, settings);
  tests::check_gradient(
      "scaled_logistic",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
      it.inputs(), it.arena());
}

TEST(SpanGradient, agrees_with_differences_over_a_past_and_with_padding) {
  const tests::Settings narrow{{"span", Index(30)}, {"ramp", Index(6)}};
  for (const std::string kind : {"adaptive_span", "dynamic_span"})
    for (const Index length : {5, 47, 100}) {
      SCOPED_TRACE(kind);
      expect_gradient(kind, {2, length, length + 30, true}, narrow);
      expect_gradient(kind, {2, length, length + 3, true}, narrow);
      expect_gradient(kind, padded(Sequences::self(2, length, true), {length, length / 2}), narrow);
    }
}

TEST(SpanGradient, agrees_with_differences_where_the_sum_is_guarded) {
  for (const std::string kind : {"adaptive_span", "dynamic_span"})
    expect_gradient(kind, {2, 40, 60, true},
                    {{"span", Index(30)}, {"ramp", Index(6)}, {"renorm_eps", 0.1}});
}

}  // namespace
}  // namespace weft::layers::span_gradient_test
