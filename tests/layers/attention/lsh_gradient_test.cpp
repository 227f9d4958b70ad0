#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::lsh_gradient_test {
namespace {

void expect_gradient(const Sequences& s, const tests::Settings& settings) {
  AttentionSample it("lsh", s, 2, 5, settings);
  tests::check_gradient(
      "listed_attention",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
      it.inputs(), it.arena());
}

const tests::Settings small{{"chunk", Index(6)}, {"buckets", Index(4)}, {"rounds", Index(3)}};

tests::Settings with(tests::Settings more) {
  more.insert(small.begin(), small.end());
  return more;
}

TEST(LshGradient, agrees_with_differences_in_every_mode) {
  for (const bool causal : {true, false})
    for (const Index length : {1, 5, 6, 47, 100}) {
      const Sequences s = Sequences::self(2, length, causal);
      SCOPED_TRACE(core::message_of(length, causal ? " causal" : ""));
      expect_gradient(s, small);
      expect_gradient(s, with({{"dedup", true}}));
      expect_gradient(s, with({{"self", "scored"}, {"scale", 0.3}}));
      expect_gradient(s, with({{"mode", "paper"}}));
      expect_gradient(s, with({{"mode", "paper"}, {"wrap", true}}));
      expect_gradient(s, with({{"mode", "paper"}, {"wrap", true}, {"dedup", true}}));
      expect_gradient(s, with({{"mode", "paper"}, {"same_bucket", true}, {"dedup", true}}));
      expect_gradient(s, with({{"mode", "paper"}, {"self", "scored"}}));
      expect_gradient(padded(s, {length, (length + 1) / 2}), with({{"mode", "paper"}}));
      expect_gradient(padded(s, {length, (length + 1) / 2}), with({{"dedup", true}}));
    }
}

TEST(LshGradient, agrees_with_differences_where_projections_share_a_matrix) {
  const AttentionSample it("lsh", Sequences::self(2, 70, true), 2, 4, small);
  tests::check_gradient(
      "listed_attention",
      [&](const Pass& pass, const std::vector<Var>& in) {
        return it.attention().forward(pass, {{{in[0], 8}, {in[0], 0}}, {}, it.sequences()});
      },
      {tests::random_tensor({140, 16}, 1)});
}

}  // namespace
}  // namespace weft::layers::lsh_gradient_test
