#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::dense_gradient_test {
namespace {

void expect_gradient(const Sequences& s, Index heads, Index head_width) {
  SCOPED_TRACE(core::message_of(s.batch, " x ", heads, " heads, ", s.queries, " queries, ", s.keys,
                                " keys", s.causal ? ", causal" : ""));
  AttentionSample it("dense", s, heads, head_width);
  tests::check_gradient(
      "pattern_attention",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
      it.inputs(), it.arena());
}

TEST(DenseGradient, agrees_with_differences) {
  for (const bool causal : {true, false})
    for (const Index length : {1, 2, 7, 127, 128, 129, 256, 257, 300}) {
      expect_gradient(Sequences::self(1, length, causal), 1, 8);
      expect_gradient(Sequences::self(2, length, causal), 3, 5);
    }
}

TEST(DenseGradient, agrees_with_differences_across_sequences_and_padding) {
  for (const bool causal : {true, false})
    for (const Index heads : {1, 3}) {
      expect_gradient({2, 5, 11, causal}, heads, 4);
      expect_gradient({2, 130, 300, causal}, heads, 4);
      expect_gradient({1, 300, 130, causal}, heads, 4);
      expect_gradient(padded(Sequences::self(2, 300, causal), {129, 0}), heads, 4);
    }
}

TEST(DenseGradient, agrees_with_differences_where_projections_share_a_matrix) {
  // q and k from the same columns, v from its own.
  const AttentionSample it("dense", Sequences::self(2, 130, true), 2, 4);
  tests::check_gradient("pattern_attention",
                        [&](const Pass& pass, const std::vector<Var>& in) {
                          return it.attention().forward(
                              pass, {{{in[0], 0}, {in[0], 8}, {in[0], 16}}, {}, it.sequences()});
                        },
                        {tests::random_tensor({260, 24}, 1)});
}

}  // namespace
}  // namespace weft::layers::dense_gradient_test
