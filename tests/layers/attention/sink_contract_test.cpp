// Sinks: a learned logit that takes weight, and first tokens that everyone reads.
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::sink_contract_test {
namespace {

using tests::same_bits;
using tests::Settings;

const std::vector<std::pair<std::string, Settings>>& forms() {
  static const std::vector<std::pair<std::string, Settings>> all = {
      {"dense", {}},
      {"local", {{"window", Index(9)}}},
      {"strided", {{"stride", Index(8)}}},
      {"longformer", {{"window", std::vector<Index>{8}}, {"positions", std::vector<Index>{0, 5}}}},
      {"fixed_span", {{"span", Index(9)}}},
      {"adaptive_span", {{"span", Index(20)}, {"ramp", Index(4)}, {"initial", 0.4}}}};
  return all;
}

AttentionSample sample(const std::string& kind, Settings settings, Real sink) {
  settings["sink"] = "learned";
  AttentionSample it(kind, Sequences::self(2, 40, true), 2, 4, settings);
  for (const auto& slot : it.arena().slots())
    if (slot.name == "sinks") std::ranges::fill(it.arena().value(slot), sink);
  return it;
}

TEST(Sink, far_below_all_scores_is_none) {
  for (const auto& [kind, settings] : forms()) {
    const AttentionSample with = sample(kind, settings, -1e4);
    const AttentionSample without(kind, Sequences::self(2, 40, true), 2, 4, settings);
    const auto one = with.run(), other = without.run();
    EXPECT_TRUE(same_bits(one.out.read(), other.out.read())) << kind;
    for (std::size_t i = 0; i < one.gradients.size(); ++i)
      EXPECT_TRUE(same_bits(one.gradients[i].read(), other.gradients[i].read())) << kind;
    EXPECT_TRUE(same_bits(with.decode(0).read(), without.decode(0).read())) << kind;
  }
}

TEST(Sink, far_above_all_scores_leaves_nothing) {
  for (const auto& [kind, settings] : forms()) {
    const AttentionSample it = sample(kind, settings, 1e4);
    const auto run = it.run();
    for (const Tensor& numbers : {run.out, run.gradients[0], run.gradients[1], it.decode(1)})
      EXPECT_TRUE(std::ranges::all_of(numbers.read(), [](Real x) { return x == 0; })) << kind;
  }
}

TEST(Sink, takes_weight_in_decoding_as_in_the_whole_pass) {
  for (const auto& [kind, settings] : forms()) {
    const AttentionSample it = sample(kind, settings, Real(0.7));
    const Tensor whole = it.evaluate();
    tests::expect_close(it.decode(1).read(), tests::in_double(whole.rows(40, 40).read()),
                        sizeof(Real) == sizeof(double) ? 1e-12 : 1e-5);
  }
}

TEST(Sink, belongs_to_softmax) {
  tests::GivenFields fields({{"normaliser", "sparsemax"}, {"sink", "learned"}});
  find_attention("dense")->configure(fields, {.width = 8, .heads = 2, .head_width = 4});
  EXPECT_EQ(std::ranges::count(fields.visited(), "sink"), 0);
}

// In sequences longer than the window, where a forgotten window or first token would show.
TEST(FirstTokens, are_read_by_everyone_and_kept_in_decoding) {
  Settings settings{{"window", Index(6)}, {"first", Index(4)}};
  AttentionSample it("local", Sequences::self(1, 40, true), 2, 4, settings);
  const Tensor before = it.evaluate();
  const auto moves = [&](Index token) {
    AttentionSample other("local", Sequences::self(1, 40, true), 2, 4, settings);
    for (Real& v : other.inputs()[2].write().subspan(std::size_t(token * 8), 8)) v += 1;
    return !same_bits(before.rows(39, 1).read(), other.evaluate().rows(39, 1).read());
  };
  for (const Index token : {0, 3, 34, 39}) EXPECT_TRUE(moves(token)) << token;
  for (const Index token : {4, 20, 33}) EXPECT_FALSE(moves(token)) << token;
  tests::expect_close(it.decode(0).read(), tests::in_double(before.read()),
                      sizeof(Real) == sizeof(double) ? 1e-12 : 1e-5);
}

}  // namespace
}  // namespace weft::layers::sink_contract_test
