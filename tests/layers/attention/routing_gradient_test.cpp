#include "layers/attention/clusters/commitment.h"
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::routing_gradient_test {
namespace {

void expect_gradient(const Sequences& s, const tests::Settings& settings) {
  AttentionSample it("routing", s, 2, 5, settings);
  tests::check_gradient(
      "listed_attention",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
      it.inputs(), it.arena());
}

tests::Settings with(tests::Settings more) {
  more.insert({{"clusters", "4"}, {"chunk", Index(6)}});
  return more;
}

TEST(RoutingGradient, agrees_with_differences_in_every_mode) {
  for (const std::string mode : {"strict", "paper"})
    for (const bool causal : {true, false})
      for (const Index length : {1, 6, 47, 100}) {
        const Sequences s = Sequences::self(2, length, causal);
        SCOPED_TRACE(core::message_of(mode, " ", length, causal ? " causal" : ""));
        expect_gradient(s, with({{"mode", mode}}));
        expect_gradient(s, with({{"mode", mode}, {"self", "scored"}}));
        expect_gradient(s, with({{"mode", mode}, {"normalise", "l2"}, {"unit_keys", true}}));
        expect_gradient(s, with({{"mode", mode}, {"normalise", "l2"}}));
        expect_gradient(s, with({{"mode", mode}, {"shared", false}}));
        expect_gradient(
            s, with({{"mode", mode}, {"shared", false}, {"normalise", "l2"}, {"unit_keys", true}}));
        expect_gradient(padded(s, {length, (length + 1) / 2}), with({{"mode", mode}}));
      }
}

TEST(RoutingGradient, agrees_with_differences_across_sequences) {
  for (const std::string mode : {"strict", "paper"}) {
    expect_gradient({2, 30, 50, true}, with({{"mode", mode}, {"shared", false}}));
    expect_gradient({2, 30, 50, false}, with({{"mode", mode}, {"shared", false}}));
    expect_gradient({2, 50, 30, false}, with({{"mode", mode}, {"shared", false}}));
  }
}

TEST(CommitmentGradient, agrees_with_differences) {
  constexpr Index batch = 2, length = 9, heads = 2, width = 5, clusters = 3;
  const auto joined = [](std::uint64_t seed) {
    std::vector<std::uint16_t> ids;
    for (std::uint64_t i = 0; i < batch * heads * length; ++i)
      ids.push_back(std::uint16_t(core::Rng(seed).below(i, clusters)));
    return std::make_shared<const std::vector<std::uint16_t>>(ids);
  };
  for (const auto law : {HeadForm::Law::unit, HeadForm::Law::standard})
    for (const bool is_padded : {false, true}) {
      Sequences s = Sequences::self(batch, length, true);
      if (is_padded) s = padded(s, {4, length});
      tests::check_gradient(
          "commitment",
          [&](const Pass&, const std::vector<Var>& in) {
            Commitment it{
                0.7, {law, Real(1e-6)}, tests::random_tensor({heads, clusters, width}, 3), s, {}};
            it.add({in[0], 0}, joined(1));
            it.add({in[0], heads * width}, joined(2));
            return it.loss();
          },
          {tests::random_tensor({batch * length, 3 * heads * width}, 1)});
    }
}

}  // namespace
}  // namespace weft::layers::routing_gradient_test
