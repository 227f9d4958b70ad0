#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::partition_gradient_test {
namespace {

void expect_gradient(const Sequences& s, Index heads, Index head_width) {
  SCOPED_TRACE(core::message_of(s.batch, " x ", heads, " heads, ", s.queries, " tokens",
                                s.causal ? ", causal" : ""));
  AttentionSample it("bp", s, heads, head_width);
  tests::check_gradient(
      "partition_attention",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
      it.inputs(), it.arena());
}

TEST(BpGradient, agrees_with_differences) {
  for (const bool causal : {true, false})
    for (const Index length : {1, 2, 7, 64, 65, 130, 300}) {
      expect_gradient(Sequences::self(1, length, causal), 1, 8);
      expect_gradient(Sequences::self(3, length, causal), 3, 5);
    }
}

TEST(BpGradient, agrees_with_differences_beside_padding) {
  for (const bool causal : {true, false})
    expect_gradient(padded(Sequences::self(2, 150, causal), {70, 1}), 2, 4);
}

}  // namespace
}  // namespace weft::layers::partition_gradient_test
