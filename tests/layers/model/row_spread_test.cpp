// Tokens among the rows of a mechanism that has more of them.
#include "core/error.h"
#include "layers/attention/global_local/rows.h"
#include "layers/attention/partition/rows.h"
#include "layers/model/trunk.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::row_spread_test {
namespace {

core::Lengths lengths_of(std::vector<Index> lengths) {
  return std::make_shared<const std::vector<Index>>(std::move(lengths));
}

TEST(RowSpread, puts_tokens_behind_global_tokens_and_takes_them_back) {
  RowSpread rows(std::make_shared<GlobalRows>(GlobalTokens{.every = 2}), 1);
  DrawnWeights drawn(rows);
  const core::Tokens tokens({2, 3}, {1, 2, 3, 4, 5, 6});
  const Sequences over = rows.over(tokens, lengths_of({3, 2}), false);
  EXPECT_EQ(over.queries, 6);
  EXPECT_EQ(*over.key_lengths, (std::vector<Index>{6, 4}));
  const Tensor x = tests::random_tensor({6, 1}, 1);
  const Var spread = rows.spread(Pass(), Var(x), over);
  const Real first = drawn.arena().values()[0], other = drawn.arena().values()[1];
  const auto at = [&](std::size_t i) { return x.read()[i]; };
  const std::vector<Real> expected{first, other, other, at(0), at(1), at(2),
                                   first, other, at(3), at(4), 0,     0};
  EXPECT_TRUE(tests::same_bits(spread.value().read(), expected));
  for (const bool roots : {false, true}) {
    const auto numbers = rows.read(over, roots);
    EXPECT_EQ(numbers->size(), roots ? 7u : 5u);
    const Var read = autograd::gather_rows(spread, numbers);
    const Tensor back = rows.tokens(read, over, 3).value();
    EXPECT_TRUE(
        tests::same_bits(back.read(), std::vector<Real>{at(0), at(1), at(2), at(3), at(4), 0}));
    if (!roots) continue;
    EXPECT_TRUE(
        tests::same_bits(rows.roots(read, over).value().read(), std::vector<Real>{first, first}));
  }
}

TEST(RowSpread, begins_the_spans_of_a_partition_as_zeros_and_ends_in_its_root) {
  const RowSpread rows(std::make_shared<PartitionRows>(), 1);
  const core::Tokens tokens({1, 3}, {1, 2, 3});
  const Sequences over = rows.over(tokens, nullptr, true);
  const Tensor x = tests::random_tensor({3, 1}, 1);
  const Tensor spread = rows.spread(Pass(), Var(x), over).value();
  EXPECT_TRUE(tests::same_bits(spread.rows(0, 3).read(), x.read()));
  EXPECT_TRUE(tests::same_bits(spread.rows(3, 3).read(), std::vector<Real>(3, Real(0))));
  EXPECT_EQ((*over.rows)[0].root, 5);
  EXPECT_EQ(rows.rows_per_token(3), 2);
}

TEST(Rows, of_all_layers_must_be_the_same) {
  ModelSettings settings = small_settings();
  settings.attention = {"bp", "dense"};
  tests::GivenFields fields;
  check_rows(fields, settings, sample_plans(settings));
  ASSERT_TRUE(fields.problems().contains("attention"));
  EXPECT_NE(fields.problems().at("attention").find("\"dense\" tokens alone"), std::string::npos);
  EXPECT_THROW(SampleModel(settings, 20), core::Error);
  settings.attention = {"bp"};
  tests::GivenFields alone;
  check_rows(alone, settings, sample_plans(settings));
  EXPECT_TRUE(alone.problems().empty());
}

TEST(Rows, refuse_sparse_projections_and_experts_that_can_be_full) {
  ModelSettings settings = small_settings();
  settings.attention = {"bp"};
  AttentionPlans plans = sample_plans(settings);
  plans.at("bp")[0].projection.kind = Density::sparse;
  settings.feedforward = {FeedForwardKind::experts};
  settings.experts.capacity = 1.5;
  tests::GivenFields fields;
  check_rows(fields, settings, plans);
  EXPECT_TRUE(fields.problems().contains("attention"));
  EXPECT_TRUE(fields.problems().contains("ff_capacity"));
}

}  // namespace
}  // namespace weft::layers::row_spread_test
