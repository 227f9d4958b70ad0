// Relative positions inside attention, against sums written out pair by pair.
#include "core/counters.h"
#include "core/parallel.h"
#include "layers/attention/contract/relative.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_variants.h"
#include "tests/layers/attention/pattern_oracles.h"

namespace weft::layers::relative_contract_test {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr Index clip = 5, narrow_span = 9;

struct Case {
  PositionKind relative = PositionKind::none;
  AttentionVariant attention;
};

class RelativeContract : public testing::TestWithParam<Case> {
 protected:
  ~RelativeContract() override { core::set_threads(0); }

  AttentionSample sample(const Sequences& sequences) const {
    RelativeSettings relative{.kind = GetParam().relative, .clip = clip};
    AttentionSample it(GetParam().attention.kind, sequences, 3, 4, GetParam().attention.settings,
                       relative);
    core::fill_normal(it.arena().values(), core::Rng(77), 0.5);
    return it;
  }
  std::vector<Sequences> forms(Index length) const {
    std::vector<Sequences> all = {Sequences::self(2, length, true),
                                  padded(Sequences::self(2, length, true), {length / 2, length}),
                                  {2, length, 2 * length + 3, true}};
    const AttentionTraits traits = sample(Sequences::self(1, 4, true)).traits();
    if (traits.bidirectional) all.push_back(Sequences::self(2, length, false));
    return all;
  }
};

/// A row of a table as head h sees it.
double table_at(const Var& table, Index label, Index h, Index d, Index head_width) {
  const Index stride = table.shape().back();
  const Index column = (stride == head_width ? 0 : h * head_width) + d;
  return table.value().read()[std::size_t(label * stride + column)];
}

/// Scores and values pair by pair, with the tables that the positions themselves give.
std::vector<double> naive(const AttentionSample& it, const Predicate& predicate, double alpha = 1) {
  const Sequences& s = it.sequences();
  const Index H = it.heads(), D = it.head_width(), W = it.width();
  const Index shift = s.causal ? s.keys - s.queries : 0;
  const auto terms = it.relative()->terms(Pass(), s.queries + s.keys, s.queries + s.keys);
  const Tensor q = it.relative()->content(Pass(), {Var(it.inputs()[0]), 0}).matrix.value();
  const Tensor place = it.relative()->place(Pass(), {Var(it.inputs()[0]), 0}).matrix.value();
  const double scale = 1 / std::sqrt(double(D));
  std::vector<double> out(std::size_t(s.batch * s.queries * W), 0.0);
  for (Index b = 0; b < s.batch; ++b)
    for (Index h = 0; h < H; ++h)
      for (Index i = 0; i < s.queries; ++i) {
        const Index keys = s.key_lengths ? (*s.key_lengths)[std::size_t(b)] : s.keys;
        std::vector<double> weights;
        std::vector<Index> read;
        for (Index j = 0; j < keys; ++j) {
          if ((s.causal && j > i + shift) || (predicate && !predicate(h, i, j))) continue;
          const Index label = terms.labels[std::size_t(j - i - shift + terms.past)];
          double score = 0;
          for (Index d = 0; d < D; ++d) {
            const auto at = std::size_t((b * s.queries + i) * W + h * D + d);
            score +=
                q.read()[at] * double(it.inputs()[1].read()[it.key_place(b * s.keys + j, h, d)]);
            if (terms.keys.value().size() > 0)
              score += place.read()[at] * table_at(terms.keys, label, h, d, D);
          }
          score *= scale;
          if (terms.bias.value().size() > 0)
            score += terms.bias.value().read()[std::size_t(h * terms.bias.shape()[1] + label)];
          weights.push_back(score);
          read.push_back(j);
        }
        if (const auto sinks = sinks_of(it); !sinks.empty())
          weights.push_back(sinks[std::size_t(h)]);
        naive_weights(weights, alpha);
        for (std::size_t n = 0; n < read.size(); ++n)
          for (Index d = 0; d < D; ++d) {
            const Index j = read[n];
            double value = it.inputs()[2].read()[it.key_place(b * s.keys + j, h, d)];
            if (terms.values.value().size() > 0)
              value += table_at(terms.values, terms.labels[std::size_t(j - i - shift + terms.past)],
                                h, d, D);
            out[std::size_t((b * s.queries + i) * W + h * D + d)] += weights[n] * value;
          }
      }
  return out;
}

/// Spans leave the token itself out, and a past stands before the first query.
Predicate span_predicate(const AttentionSample& sample) {
  const Sequences& s = sample.sequences();
  return [shift = s.keys - s.queries](Index, Index i, Index j) {
    return j < i + shift && j >= i + shift - narrow_span;
  };
}

TEST_P(RelativeContract, is_the_sum_over_pairs_written_out) {
  const std::string& name = GetParam().attention.name;
  const PredicateOf predicate =
      name == "fixed_span" ? span_predicate : pattern_predicates().at(name);
  for (const Index length : {1, 7, 70, 140})
    for (const Sequences& s : forms(length)) {
      const AttentionSample it = sample(s);
      tests::expect_close(it.evaluate().read(), naive(it, predicate(it)), in_double ? 1e-12 : 1e-5);
    }
}

TEST_P(RelativeContract, gradients_agree_with_differences) {
  for (const Index length : {1, 7, 70, 140})
    for (const Sequences& s : forms(length)) {
      AttentionSample it = sample(s);
      if (s.keys == 1 && !it.traits().reads_self) continue;
      tests::check_gradient(
          std::string(position_name(GetParam().relative)),
          [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
          it.inputs(), it.arena());
    }
}

TEST_P(RelativeContract, decoding_gives_what_the_whole_pass_gives) {
  for (const Index length : {2, 140}) {
    const AttentionSample it = sample(Sequences::self(2, length, true));
    const Tensor whole = it.evaluate(), decoded = it.decode(1);
    tests::expect_close(decoded.read(), tests::in_double(whole.rows(length, length).read()),
                        in_double ? 1e-10 : 1e-4);
  }
}

TEST_P(RelativeContract, stated_cost_is_what_the_kernels_count) {
  for (const Sequences& s : forms(140)) {
    const AttentionSample it = sample(s);
    const Cost cost = it.attention().cost(s);
    autograd::Tape tape;
    autograd::Journal journal;
    std::vector<Var> leaves;
    for (const Tensor& x : it.inputs()) leaves.push_back(tape.watch(x));
    const Index pairs = core::counters().scored_pairs, flops = core::counters().flops;
    const Var out = it.forward(Pass(tape, core::Rng(3), journal), leaves);
    EXPECT_EQ(core::counters().scored_pairs - pairs, cost.scored_pairs);
    if (GetParam().relative == PositionKind::xl)
      continue;  // makes its table by a product of its own
    const Index middle = core::counters().flops;
    EXPECT_EQ(middle - flops, cost.flops);
    tape.sweep(out, it.upstream());
    EXPECT_EQ(core::counters().flops - middle, cost.backward_flops);
  }
}

TEST_P(RelativeContract, any_number_of_threads_gives_the_same_bits) {
  for (const Sequences& s : forms(140)) {
    const AttentionSample it = sample(s);
    core::set_threads(1);
    const auto alone = it.run();
    core::set_threads(3);
    const auto together = it.run();
    EXPECT_TRUE(tests::same_bits(alone.out.read(), together.out.read()));
    EXPECT_TRUE(tests::same_bits(alone.parameter_gradients, together.parameter_gradients));
    EXPECT_TRUE(tests::same_bits(alone.gradients[0].read(), together.gradients[0].read()));
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const PositionKind relative : {PositionKind::shaw, PositionKind::t5, PositionKind::xl}) {
    all.push_back({relative, {"dense", "dense", {}}});
    all.push_back({relative, {"fixed_span", "fixed_span", {{"span", narrow_span}}}});
    for (const AttentionVariant& variant : attention_variants())
      if (pattern_predicates().contains(variant.name)) all.push_back({relative, variant});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Patterns, RelativeContract, testing::ValuesIn(cases()),
                         [](const auto& chosen) {
                           return std::string(position_name(chosen.param.relative)) + "_in_" +
                                  chosen.param.attention.name;
                         });

TEST(RelativeEntmax, is_the_sum_over_pairs_written_out_with_its_gradients) {
  for (const PositionKind relative : {PositionKind::shaw, PositionKind::t5, PositionKind::xl})
    for (const bool causal : {true, false}) {
      AttentionSample it("dense", Sequences::self(2, 70, causal), 3, 4,
                         {{"normaliser", "entmax"}, {"learned_alpha", true}},
                         {.kind = relative, .clip = clip});
      core::fill_normal(it.arena().values(), core::Rng(77), 0.5);
      std::ranges::fill(it.arena().values().first(3), Real(0));  // alpha 1.5 on all heads
      tests::expect_close(it.evaluate().read(), naive(it, nullptr, 1.5), in_double ? 1e-10 : 1e-5);
      tests::check_gradient(
          std::string(position_name(relative)),
          [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
          it.inputs(), it.arena());
    }
}

// Strips of rows are cut out of panels: some read nothing of theirs.
TEST(RelativeEntmax, is_the_sum_over_pairs_written_out_in_any_pattern) {
  for (const AttentionVariant& variant : attention_variants()) {
    if (!pattern_predicates().contains(variant.name)) continue;
    tests::Settings sparse = variant.settings;
    sparse.insert({"normaliser", "entmax15"});
    const AttentionSample it(variant.kind, Sequences::self(2, 140, true), 3, 4, sparse,
                             {.kind = PositionKind::shaw, .clip = clip});
    tests::expect_close(it.evaluate().read(),
                        naive(it, pattern_predicates().at(variant.name)(it), 1.5),
                        in_double ? 1e-10 : 1e-5);
  }
}

TEST(T5Bucket, has_the_published_values) {
  const auto past = [](Index distance) { return t5_bucket(-distance, true, 32, 128); };
  for (Index d = 0; d < 16; ++d) EXPECT_EQ(past(d), d);
  const std::vector<std::pair<Index, int>> causal = {{16, 16},  {20, 17},  {32, 21},  {64, 26},
                                                     {100, 30}, {127, 31}, {128, 31}, {9999, 31}};
  for (const auto& [distance, bucket] : causal) EXPECT_EQ(past(distance), bucket) << distance;
  const std::vector<std::pair<Index, int>> both = {{8, 8},   {16, 10},  {32, 12},
                                                   {64, 14}, {100, 15}, {5000, 15}};
  for (const auto& [distance, bucket] : both) {
    EXPECT_EQ(t5_bucket(-distance, false, 32, 128), bucket) << distance;
    EXPECT_EQ(t5_bucket(distance, false, 32, 128), 16 + bucket) << distance;
  }
  EXPECT_EQ(past(-3), 0) << "the future of a causal model has no bucket of its own";
}

TEST(Shaw, gives_offsets_beyond_the_clip_one_key) {
  const auto shaw =
      make_relative({.kind = PositionKind::shaw, .clip = 3}, {.heads = 2, .head_width = 4});
  autograd::Inventory inventory;
  shaw->visit(inventory);
  const autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::inference);
  const auto terms = shaw->terms(Pass(), 5, 4);
  EXPECT_EQ(terms.labels, (std::vector<std::int32_t>{0, 0, 0, 1, 2, 3, 4, 5, 6, 6}));
}

}  // namespace
}  // namespace weft::layers::relative_contract_test
