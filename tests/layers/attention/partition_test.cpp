// The graph of BP-Transformer, and what it costs.
#include "core/counters.h"
#include "layers/attention/partition/graph.h"
#include "layers/attention/partition/rows.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::partition_test {
namespace {

struct Edges {
  Index affiliated = 0, contextual = 0;
};

Edges count_edges(Index tokens, Index fan, bool causal) {
  const PartitionGraph graph(tokens, {fan, 6}, causal);
  Edges edges;
  for (Index node = 0; node < graph.tree().nodes(); ++node) {
    std::vector<LabelRun> read;
    graph.of(node, read);
    Index all = 0;
    for (const LabelRun& run : read) all += run.end - run.begin;
    const Index own = node < tokens ? 1 : all;
    edges.affiliated += own;
    edges.contextual += all - own;
  }
  return edges;
}

TEST(Partition, has_the_nodes_and_edges_of_the_published_graph) {
  EXPECT_EQ(PartitionTree(512).nodes(), 1023);
  EXPECT_EQ(PartitionTree(1).nodes(), 1);
  EXPECT_EQ(count_edges(512, 4, false).affiliated, 5120);
  EXPECT_EQ(count_edges(512, 4, false).contextual, 23258);
  EXPECT_EQ(count_edges(512, 4, true).contextual, 11629);
  EXPECT_EQ(count_edges(64, 1, false).contextual, 642);
  EXPECT_EQ(count_edges(64, 1, true).contextual, 321);
  EXPECT_EQ(count_edges(8192, 64, false).contextual / 8192, 713);
  EXPECT_NEAR(double(count_edges(8192, 64, true).contextual) / 8192, 357, 0.5);
}

TEST(Partition, what_a_token_reads_spans_every_other_token_exactly_once) {
  for (const bool causal : {true, false})
    for (const Index fan : {1, 2, 3, 4, 7, 8})
      for (Index n = 1; n < 140; ++n) {
        const PartitionGraph graph(n, {fan, 6}, causal);
        for (Index i = 0; i < n; ++i) {
          std::vector<LabelRun> runs;
          graph.of(i, runs);
          std::vector<Index> times(std::size_t(n), 0);
          for (const LabelRun& run : runs)
            for (Index node = run.begin; node < run.end; ++node)
              for (Index t = graph.tree().span(node).begin; t < graph.tree().span(node).end; ++t)
                ++times[std::size_t(t)];
          for (Index t = 0; t < n; ++t)
            ASSERT_EQ(times[std::size_t(t)], !causal || t <= i ? 1 : 0)
                << "token " << t << " seen from " << i << " of " << n << ", fan " << fan;
        }
      }
}

TEST(Partition, a_token_completes_the_spans_that_end_with_it) {
  const PartitionTree tree(64);
  const PartitionRows rows;
  Index completed = 0;
  for (Index t = 0; t < 64; ++t)
    for (const Index position : rows.completed_by(t)) {
      const Index node =
          tree.first(PartitionRows::level_of(position)) + PartitionRows::index_of(position);
      EXPECT_EQ(tree.span(node).end, t + 1);
      ++completed;
    }
  EXPECT_EQ(completed, tree.nodes() - 64);
}

TEST(Bp, a_label_that_all_keys_of_a_row_have_gets_no_gradient_at_all) {
  const AttentionSample it("bp", Sequences::self(2, 50, true), 3, 4);
  const auto gradient = it.run().parameter_gradients;
  const EdgeLabels labels;
  for (Index label = 0; label < labels.count(); ++label) {
    double sum = 0;
    for (Index d = 0; d < 4; ++d) sum += std::abs(double(gradient[std::size_t(label * 4 + d)]));
    const bool of_spans = label > 0 && label % (2 * labels.fan + 1) == 0;
    const bool of_the_right = label % (2 * labels.fan + 1) % 2 == 0 && label > 0;
    if (of_spans || of_the_right) {
      EXPECT_EQ(sum, 0) << label;
    }
  }
  EXPECT_NE(gradient[0], 0);
}

TEST(Bp, pairs_and_saved_bytes_grow_by_little_more_than_the_length) {
  const auto cost = [](Index length) {
    const AttentionSample it("bp", Sequences::self(1, length, true), 2, 4);
    return it.attention().cost(it.sequences());
  };
  const Cost one = cost(1024), four = cost(4096);
  const double grown = 4 * 12.0 / 10;  // T log T
  EXPECT_LE(double(four.scored_pairs), grown * double(one.scored_pairs) * 1.1);
  EXPECT_LE(double(four.flops), grown * double(one.flops) * 1.1);
  const double rows = double(PartitionTree(4096).nodes()) / double(PartitionTree(1024).nodes());
  EXPECT_NEAR(double(four.saved_bytes) / double(one.saved_bytes), rows, 1e-9);
}

TEST(Bp, a_decoded_token_reads_a_few_keys_of_each_level) {
  constexpr Index length = 2048, heads = 2, width = 4, fan = 4;
  const AttentionSample it("bp", Sequences::self(1, 8, true), heads, width);
  const auto state = it.attention().begin();
  const std::vector<Real> row(std::size_t(heads * width), Real(0.1));
  std::vector<Real> out(row.size());
  const auto pairs_of = [&](Index position) {
    const Index before = core::counters().scored_pairs;
    it.attention().step(*state, {{row, row, row}, row, position}, out);
    return (core::counters().scored_pairs - before) / heads;
  };
  Index of_spans = 0;
  for (Index t = 0; t < length; ++t) {
    const Index levels = Index(std::log2(double(t + 1))) + 1;
    EXPECT_LE(pairs_of(t), 1 + fan * levels) << t;
    for (const Index position : PartitionRows().completed_by(t)) of_spans += pairs_of(position);
  }
  EXPECT_EQ(of_spans, length * 11);  // each token is in one span of every level
  EXPECT_EQ(state->bytes(),
            2 * PartitionTree(length).nodes() * heads * width * Index(sizeof(Real)));
}

}  // namespace
}  // namespace weft::layers::partition_test
