// Attention through feature maps: chunks, spans, references, padding, long sequences.
#include "tests/layers/attention/attention_oracles.h"

namespace weft::layers::feature_attention_contract_test {
namespace {

using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr double tolerance = in_double ? 1e-11 : 2e-5;
const std::vector<std::string> kinds = {"linear", "taylor", "efficient", "performer"};

// Against the largest number of the array.
void expect_near(const Tensor& actual, const std::vector<double>& expected, double allowed) {
  double largest = 1;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  ASSERT_EQ(actual.read().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual.read()[i], expected[i], allowed * largest) << "element " << i;
}
void expect_near(const Tensor& actual, const Tensor& expected, double allowed) {
  expect_near(actual, tests::in_double(expected.read()), allowed);
}
bool all_zero(const Tensor& x) {
  return std::ranges::all_of(x.read(), [](Real v) { return v == 0; });
}
bool all_finite(const Tensor& x) {
  return std::ranges::all_of(x.read(), [](Real v) { return std::isfinite(v); });
}

std::vector<double> oracle_of(const AttentionSample& it, const std::string& kind) {
  std::vector<std::vector<double>> inputs;
  for (const Tensor& x : it.inputs()) inputs.push_back(tests::in_double(x.read()));
  return attention_oracles().at(kind)(it, inputs);
}

TEST(FeatureAttention, chunks_of_1_of_64_and_of_everything_agree) {
  constexpr Index length = 200;
  for (const std::string& kind : kinds)
    for (const bool causal : {true, false}) {
      SCOPED_TRACE(kind);
      const Sequences s = Sequences::self(2, length, causal);
      const auto whole = AttentionSample(kind, s, 2, 8, {{"chunk", length}}).run();
      for (const Index chunk : {1, 3, 64}) {
        const auto cut = AttentionSample(kind, s, 2, 8, {{"chunk", chunk}}).run();
        expect_near(cut.out, whole.out, tolerance);
        for (const std::size_t i : {0, 1, 2})
          expect_near(cut.gradients[i], whole.gradients[i], tolerance);
      }
    }
}

// A lane alone is cut into spans, among eight it is swept in one.
TEST(FeatureAttention, spans_give_what_one_sweep_gives) {
  constexpr Index length = 700;
  for (const std::string& kind : kinds)
    for (const bool causal : {true, false}) {
      SCOPED_TRACE(kind);
      const tests::Settings settings{{"chunk", Index(16)}};
      AttentionSample one(kind, Sequences::self(1, length, causal), 1, 8, settings);
      AttentionSample eight(kind, Sequences::self(8, length, causal), 1, 8, settings);
      for (std::size_t i = 0; i < one.inputs().size(); ++i)
        one.inputs()[i] = eight.inputs()[i].rows(0, length);
      const auto alone = one.run(), among = eight.run();
      expect_near(alone.out, among.out.rows(0, length), tolerance);
    }
}

TEST(FeatureAttention, every_positive_map_is_its_formula) {
  const std::map<std::string, double (*)(double)> maps = {
      {"elu", [](double x) { return x > 0 ? x + 1 : std::exp(x); }},
      {"relu", [](double x) { return std::max(x, 0.0) + 1e-3; }},
      {"softplus", [](double x) { return std::log1p(std::exp(x)); }}};
  for (const auto& [name, phi] : maps) {
    SCOPED_TRACE(name);
    const AttentionSample it("linear", Sequences::self(2, 90, true), 2, 6,
                             {{"map", name}, {"eps", 0.01}});
    const auto in = [&](std::size_t i) { return tests::in_double(it.inputs()[i].read()); };
    expect_near(it.run().out,
                naive_features(it).weighted(in(0), in(1), in(2), elementwise_weight(phi), 0.01),
                tolerance);
  }
}

TEST(FeatureAttention, weights_of_a_query_sum_to_one) {
  for (const std::string& kind : kinds)
    for (const bool causal : {true, false}) {
      AttentionSample it(kind, Sequences::self(2, 150, causal), 2, 8);
      it.inputs()[2] = Tensor(it.inputs()[2].shape(), 1);
      for (const Real sum : it.evaluate().read())
        ASSERT_NEAR(sum, 1, kind == "taylor" ? 1e-3 : 2e-5) << kind;
    }
}

TEST(FeatureAttention, leaves_padding_unread_and_gives_zeros_where_all_is_padding) {
  for (const std::string& kind : kinds)
    for (const bool causal : {true, false})
      for (const Index heads : {1, 4}) {
        SCOPED_TRACE(kind);
        const Sequences s = padded(Sequences::self(2, 130, causal), {0, 77});
        AttentionSample it(kind, s, heads, 4);
        const auto before = it.run();
        EXPECT_TRUE(all_zero(before.out.rows(0, 130)));
        for (const std::size_t i : {0, 1, 2}) {
          EXPECT_TRUE(all_zero(before.gradients[i].rows(0, 130)));
          EXPECT_TRUE(all_finite(before.gradients[i]));
        }
        for (const std::size_t side : {1, 2})
          std::ranges::fill(it.inputs()[side].write().subspan(std::size_t(207 * it.width())),
                            Real(1e6));
        const auto after = it.run();
        EXPECT_TRUE(same_bits(before.out.read(), after.out.read()));
        for (const std::size_t side : {1, 2})
          EXPECT_TRUE(all_zero(after.gradients[side].rows(207, 53)));
      }
}

TEST(FeatureAttention, gives_zero_where_a_query_stands_before_every_key) {
  for (const std::string& kind : kinds) {
    const auto run = AttentionSample(kind, {1, 300, 100, true}, 2, 4).run();
    EXPECT_TRUE(all_zero(run.out.rows(0, 200))) << kind;
    EXPECT_TRUE(all_zero(run.gradients[0].rows(0, 200))) << kind;
    EXPECT_FALSE(all_zero(run.out.rows(200, 1))) << kind;
  }
}

// Keys whose exponentials overflow by themselves.
void make_steep(AttentionSample& it, const std::string& kind) {
  const Index length = it.sequences().keys;
  std::span<Real> k = it.inputs()[1].write();
  for (Index t = 0; t < length; ++t)
    for (Index d = 0; d < it.width(); ++d) {
      Real& x = k[std::size_t(t * it.width() + d)];
      if (kind == "efficient")
        x = x * 30 + Real(t % 97 == 96 ? 3 * t : 0);
      else
        x *= t % 50 < 25 ? 40 : 1;
    }
}

TEST(FeatureAttention, is_stable_where_exponentials_overflow) {
  for (const std::string kind : {"efficient", "performer"})
    for (const bool causal : {true, false})
      for (const Index heads : {1, 8}) {
        SCOPED_TRACE(core::message_of(kind, causal ? ", causal" : ""));
        AttentionSample it(kind, Sequences::self(1, 300, causal), heads, 4);
        make_steep(it, kind);
        const auto run = it.run();
        EXPECT_TRUE(all_finite(run.out));
        for (const Tensor& gradient : run.gradients) EXPECT_TRUE(all_finite(gradient));
        if (kind == "efficient") expect_near(run.out, oracle_of(it, kind), in_double ? 1e-9 : 1e-3);
        if (causal) expect_near(it.decode(0), run.out, in_double ? 1e-9 : 1e-3);
      }
}

TEST(FeatureAttention, outputs_before_a_steep_key_keep_their_bits) {
  for (const std::string kind : {"efficient", "performer"})
    for (const Index heads : {1, 8}) {
      constexpr Index length = 300;
      AttentionSample it(kind, Sequences::self(1, length, true), heads, 4);
      const Tensor before = it.evaluate();
      for (const Index t : {1, 30, 63, 64, 65, 200}) {
        AttentionSample changed(kind, Sequences::self(1, length, true), heads, 4);
        std::span<Real> k = changed.inputs()[1].write();
        for (Index j = t; j < length; ++j)
          for (Index d = 0; d < it.width(); ++d) {
            Real& x = k[std::size_t(j * it.width() + d)];
            x = kind == "efficient" ? x + Real(60 * (j - t + 1)) : x * 50;
          }
        const Tensor after = changed.evaluate();
        EXPECT_TRUE(same_bits(before.rows(0, t).read(), after.rows(0, t).read()))
            << kind << " changed at " << t;
      }
    }
}

TEST(FeatureAttention, decoding_keeps_a_state_of_constant_size) {
  for (const std::string& kind : kinds) {
    const AttentionSample it(kind, Sequences::self(1, 300, true), 2, 8);
    const auto state = it.attention().begin();
    const Index bytes = state->bytes();
    EXPECT_GT(bytes, 0);
    std::vector<Real> out(16);
    for (Index t = 0; t < 300; ++t) {
      StepInput step{{}, {}, t};
      for (std::size_t i = 0; i < 3; ++i) step.blocks.push_back(it.inputs()[i].rows(t, 1).read());
      it.attention().step(*state, step, out);
      ASSERT_EQ(state->bytes(), bytes);
    }
  }
}

// The last query of 65,536 tokens, its sums taken in double.
std::vector<double> last_output(const AttentionSample& it, const std::string& kind) {
  const Index length = it.sequences().keys;
  const AttentionSample last(kind, {1, 1, length, true}, 1, it.head_width());
  std::vector<std::vector<double>> inputs;
  for (const Tensor& x : it.inputs()) inputs.push_back(tests::in_double(x.read()));
  inputs[0] = tests::in_double(it.inputs()[0].rows(length - 1, 1).read());
  return attention_oracles().at(kind)(last, inputs);
}

// Keys are far from zero on average, so that all sums grow all the way.
TEST(FeatureAttention, stays_within_1e_4_of_double_at_65536_tokens) {
  constexpr Index length = 65536, width = 4;
  for (const std::string& kind : kinds) {
    SCOPED_TRACE(kind);
    AttentionSample it(kind, Sequences::self(1, length, true), 1, width);
    for (const std::size_t i : {1, 2})
      for (Real& x : it.inputs()[i].write()) x = Real(0.5) * x + 1;
    const std::vector<double> expected = last_output(it, kind);
    expect_near(it.evaluate().rows(length - 1, 1), expected, 1e-4);
    expect_near(it.decode(0).rows(length - 1, 1), expected, 1e-4);
  }
}

TEST(Efficient, a_causal_output_is_the_bidirectional_one_of_its_prefix) {
  const AttentionSample it("efficient", Sequences::self(1, 140, true), 2, 4);
  const Tensor causal = it.evaluate();
  for (const Index length : {1, 64, 65, 140}) {
    AttentionSample prefix("efficient", Sequences::self(1, length, false), 2, 4);
    for (std::size_t i = 0; i < prefix.inputs().size(); ++i)
      prefix.inputs()[i] = it.inputs()[i].rows(0, length);
    expect_near(causal.rows(length - 1, 1), prefix.evaluate().rows(length - 1, 1), tolerance);
  }
}

TEST(Taylor, does_not_see_the_lengths_of_queries_and_keys) {
  AttentionSample it("taylor", Sequences::self(1, 100, true), 2, 4);
  const Tensor before = it.evaluate();
  for (Real& x : it.inputs()[0].write()) x *= 7;
  for (Real& x : it.inputs()[1].write()) x *= Real(0.03);
  expect_near(it.evaluate(), before, in_double ? 1e-10 : 1e-3);
}

TEST(Taylor, gives_zero_where_the_only_key_points_away_and_takes_a_key_of_length_zero) {
  AttentionSample it("taylor", Sequences::self(1, 3, true), 1, 4);
  std::ranges::copy(std::vector<Real>{1, 0, 0, 0}, it.inputs()[0].write().begin());
  std::ranges::copy(std::vector<Real>{-2, 0, 0, 0, 0, 0, 0, 0}, it.inputs()[1].write().begin());
  const auto run = it.run();
  for (const Real x : run.out.rows(0, 1).read()) EXPECT_NEAR(x, 0, 1e-6);
  EXPECT_TRUE(all_finite(run.out));
  for (const Tensor& gradient : run.gradients) EXPECT_TRUE(all_finite(gradient));
}

}  // namespace
}  // namespace weft::layers::feature_attention_contract_test
