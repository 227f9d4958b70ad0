// How strongly keys are read, as every mechanism says it: no kernel of its own, so in float alone.
#include "layers/attention/contract/key_weights.h"

#include <numeric>

#include "tests/layers/attention/attention_contract.h"
#include "tests/layers/attention/attention_oracles.h"

namespace weft::layers::key_weights_test {
namespace {

constexpr double tolerance = 2e-5;

using Numbers = std::vector<double>;

AttentionInput input_of(const AttentionSample& it) {
  AttentionInput input{{}, Var(it.inputs().back()), it.sequences()};
  for (std::size_t i = 0; i + 1 < it.inputs().size(); ++i)
    input.blocks.push_back({Var(it.inputs()[i]), 0});
  return input;
}

Tensor weights_of(const AttentionSample& it) {
  return key_weights(it.attention(), Pass(core::Rng(3)), input_of(it), it.heads(), it.head_width());
}

/// A place of the weights, [B, H, queries, keys].
struct Place {
  Index b, h, i, j;
};

/// Calls `see` with every weight and its place.
void for_each_weight(const AttentionSample& it, const Tensor& weights,
                     const std::function<void(const Place&, double)>& see) {
  const Sequences& s = it.sequences();
  for (Index at = 0; at < weights.size(); ++at)
    see({at / s.keys / s.queries / it.heads(), at / s.keys / s.queries % it.heads(),
         at / s.keys % s.queries, at % s.keys},
        double(weights.data()[at]));
}

/// The inputs in double, with other values.
std::vector<Numbers> inputs_with(const AttentionSample& it, const Tensor& values) {
  std::vector<Numbers> all;
  for (const Tensor& x : it.inputs()) all.push_back(tests::in_double(x.read()));
  const std::vector<Projection> projections = it.attention().projections();
  for (std::size_t i = 0; i < projections.size(); ++i)
    if (projections[i].name.ends_with('v') && projections[i].name != "pool_v")
      all[i] = tests::in_double(values.read());
  return all;
}

std::size_t index_of_values(const AttentionSample& it) {
  const std::vector<Projection> all = it.attention().projections();
  return std::size_t(std::ranges::find(all, "v", &Projection::name) - all.begin());
}

/// Whether columns of a value have weights of their own, of which key_weights is the mean.
bool weighs_columns(const AttentionSample& it) {
  const auto* own = dynamic_cast<const SumsValues*>(&it.attention());
  return own && own->weighs_columns();
}

/// 1 in every column of one key, in every head and sequence.
Tensor unit_values(const AttentionSample& it, Index key) {
  Tensor values(it.inputs()[index_of_values(it)].shape(), Real(0));
  const Index columns = values.shape()[1], keys = it.sequences().keys;
  for (Index row = key; row < values.shape()[0]; row += keys)
    std::fill_n(values.write().begin() + row * columns, columns, Real(1));
  return values;
}

/// A training pass, in which the oracles' hashes are drawn.
struct TrainingPass {
  autograd::Tape tape;
  autograd::Journal journal;
  Pass pass{tape, core::Rng(3), journal};
};

class KeyWeights : public AttentionContract {};

TEST_P(KeyWeights, are_those_of_the_naive_formula) {
  const auto oracle = attention_oracles().find(GetParam().name);
  ASSERT_NE(oracle, attention_oracles().end());
  const NaiveRecurrence::SumsAlone sums_alone;
  for (const Index length : {1, 7, 30})
    for (const Sequences& s : forms(length)) {
      SCOPED_TRACE(describe(s));
      const AttentionSample it = sample(s);
      const Index D = it.head_width(), H = it.heads(), keys = it.sequences().keys;
      std::vector<Numbers> sums;  // of each key's unit values
      for (Index j = 0; j < keys; ++j)
        sums.push_back(oracle->second(it, inputs_with(it, unit_values(it, j))));
      const TrainingPass training;
      const Tensor weights =
          key_weights(it.attention(), training.pass, input_of(it), it.heads(), it.head_width());
      for_each_weight(it, weights, [&](const Place& at, double weight) {
        const Index row = at.b * it.sequences().queries + at.i;
        const auto first = sums[std::size_t(at.j)].begin() + (row * H + at.h) * D;
        const double expected = std::accumulate(first, first + D, 0.0) / double(D);
        ASSERT_NEAR(weight, expected, tolerance * std::max(1.0, std::abs(expected)))
            << "head " << at.h << ", query " << at.i << ", key " << at.j;
      });
    }
}

TEST_P(KeyWeights, times_the_values_are_what_the_mechanism_sums) {
  for (const Sequences& s : forms(29)) {
    SCOPED_TRACE(describe(s));
    const AttentionSample it = sample(s);
    const std::size_t v = index_of_values(it);
    const Tensor& values = it.inputs()[v];
    const Tensor out =
        weigh_values(it.attention(), Pass(core::Rng(3)), input_of(it), {Var(values), 0}).value();
    const std::vector<Projection> projections = it.attention().projections();
    const auto of_values = std::ranges::count_if(
        projections, [](const Projection& own) { return own.name.ends_with('v'); });
    if (!traits().gates_output && of_values == 1) {
      EXPECT_TRUE(tests::same_bits(out.read(), it.evaluate().read()));
    }
    if (weighs_columns(it)) continue;
    Numbers sums(std::size_t(out.size()), 0.0);
    const Index D = it.head_width(), H = it.heads();
    for_each_weight(it, weights_of(it), [&](const Place& at, double weight) {
      const Index query = at.b * it.sequences().queries + at.i;
      const Index key = at.b * it.sequences().keys + at.j, head = at.h * it.key_heads(v) / H;
      for (Index d = 0; d < D; ++d)
        sums[std::size_t((query * H + at.h) * D + d)] +=
            weight * double(values.data()[key * values.shape()[1] + head * D + d]);
    });
    tests::expect_close(out.read(), sums, 10 * tolerance);
  }
}

TEST_P(KeyWeights, of_the_future_and_of_padding_are_zero) {
  for (const Sequences& s : forms(29)) {
    SCOPED_TRACE(describe(s));
    const AttentionSample it = sample(s);
    const Sequences& rows = it.sequences();
    const std::vector<Index> token = it.completed_with();
    const bool self = rows.queries == rows.keys;
    for_each_weight(it, weights_of(it), [&](const Place& at, double weight) {
      if (self && at.i >= rows.real_keys(at.b)) return;  // a query that means nothing
      if (at.j >= rows.real_keys(at.b)) {
        ASSERT_EQ(weight, 0) << "key " << at.j << " is padding";
      }
      if (!rows.causal || (rows.rows && (*rows.rows)[std::size_t(at.b)] != (*rows.rows)[0])) return;
      const bool later = self ? token[std::size_t(at.j)] > token[std::size_t(at.i)]
                              : at.j > at.i + rows.keys - rows.queries;
      if (later) {
        ASSERT_EQ(weight, 0) << "query " << at.i << ", key " << at.j;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, KeyWeights, testing::ValuesIn(registry_and_variants()), name_of);

TEST(KeyWeightsOf, one_softmax_are_a_distribution) {
  for (const std::string kind : {"dense", "local", "bigbird", "lsh", "routing", "moba", "indexed",
                                 "forgetting", "adaptive_span"}) {
    const AttentionSample it(kind, Sequences::self(1, 40, true), 2, 4);
    const Tensor weights = weights_of(it);
    for (Index row = 0; row < 2 * 40; ++row) {
      if (row % 40 == 0 && !it.traits().reads_self) continue;  // there is nothing to read
      double sum = 0;
      for (const Real weight : weights.read().subspan(std::size_t(row * 40), 40)) {
        EXPECT_GE(weight, 0) << kind;
        sum += double(weight);
      }
      EXPECT_NEAR(sum, 1, tolerance) << kind << ", row " << row;
    }
  }
}

TEST(KeyWeightsOf, a_retention_fade_with_the_distance) {
  const AttentionSample it("retention", Sequences::self(1, 20, true), 2, 4);
  const Tensor weights = weights_of(it);
  const auto products = [&](Index h, Index i, Index j) {
    double sum = 0;
    for (Index d = 0; d < 4; ++d)
      sum += double(it.inputs()[0].data()[i * 8 + h * 4 + d]) *
             double(it.inputs()[1].data()[j * 8 + h * 4 + d]);
    return sum / 2;
  };
  for (Index h = 0; h < 2; ++h)
    EXPECT_NEAR(weights.data()[(h * 20 + 17) * 20 + 5],
                products(h, 17, 5) * std::pow(1 - std::pow(2, -5.0 - double(h)), 12), tolerance);
}

TEST(KeyWeightsOf, hashed_tokens_are_read_in_their_bucket_alone) {
  const AttentionSample it("lsh", Sequences::self(1, 60, true), 2, 4,
                           {{"buckets", core::Index(6)}, {"rounds", core::Index(2)}});
  const TokenGroups groups = token_groups(it.attention(), Pass(core::Rng(3)), input_of(it));
  EXPECT_EQ(groups.name, "bucket");
  EXPECT_EQ(groups.count, 6);
  ASSERT_EQ(Index(groups.keys.size()), 2 * 2 * 60);
  Index read = 0;
  for_each_weight(it, weights_of(it), [&](const Place& at, double weight) {
    if (weight == 0 || at.i == at.j) return;
    ++read;
    bool together = false;
    for (Index round = 0; round < 2; ++round) {
      const std::size_t lane = std::size_t((at.h * 2 + round) * 60);
      together |= groups.queries[lane + std::size_t(at.i)] == groups.keys[lane + std::size_t(at.j)];
    }
    EXPECT_TRUE(together) << at.i << " reads " << at.j;
  });
  EXPECT_GT(read, 100);
}

TEST(KeyWeightsOf, routed_tokens_are_read_in_their_cluster_alone) {
  for (const bool shared : {true, false}) {
    const AttentionSample it("routing", Sequences::self(1, 60, true), 2, 4,
                             {{"clusters", "4"}, {"shared", shared}});
    const TokenGroups groups = token_groups(it.attention(), Pass(core::Rng(3)), input_of(it));
    EXPECT_EQ(groups.name, "cluster");
    Index read = 0;
    for_each_weight(it, weights_of(it), [&](const Place& at, double weight) {
      if (weight == 0 || at.i == at.j) return;
      ++read;
      EXPECT_EQ(groups.queries[std::size_t(at.h * 60 + at.i)],
                groups.keys[std::size_t(at.h * 60 + at.j)]);
    });
    EXPECT_GT(read, 100);
  }
}

}  // namespace
}  // namespace weft::layers::key_weights_test
