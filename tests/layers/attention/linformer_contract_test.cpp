// Keys and values projected along the sequence.
#include "core/error.h"
#include "tests/layers/attention/attention_oracles.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::linformer_contract_test {
namespace {

using tests::same_bits;

constexpr double tolerance = sizeof(Real) == sizeof(double) ? 1e-12 : 1e-5;

tests::Settings sharing(const std::string& mode, Index slots) {
  return {{"sharing", mode}, {"slots", slots}};
}

TEST(Linformer, with_unit_projections_is_dense_attention) {
  constexpr Index length = 30;
  const Sequences s = Sequences::self(2, length, false);
  for (const std::string mode : {"none", "headwise", "key_value", "layerwise"}) {
    AttentionSample it("linformer", s, 2, 4, sharing(mode, length)), dense("dense", s, 2, 4);
    for (const auto& segment : it.arena().slots())
      for (Index i = 0; i < segment.size; ++i)
        it.arena().value(segment)[std::size_t(i)] = i / length % length == i % length;
    tests::expect_close(it.evaluate().read(), tests::in_double(dense.evaluate().read()), tolerance);
  }
}

TEST(Linformer, heads_with_equal_projections_are_heads_that_share_them) {
  const Sequences s = padded(Sequences::self(2, 20, false), {20, 13});
  AttentionSample own("linformer", s, 3, 4, sharing("none", 7));
  AttentionSample shared("linformer", s, 3, 4, sharing("headwise", 7));
  for (std::size_t i = 0; i < 2; ++i)
    for (Index h = 0; h < 3; ++h)
      std::ranges::copy(shared.arena().value(shared.arena().slots()[i]),
                        own.arena().value(own.arena().slots()[i]).begin() + h * 7 * 20);
  const auto apart = own.run(), together = shared.run();
  tests::expect_close(apart.out.read(), tests::in_double(together.out.read()), tolerance);
  for (const std::size_t i : {0, 1, 2})
    tests::expect_close(apart.gradients[i].read(), tests::in_double(together.gradients[i].read()),
                        tolerance);
}

// Of two layers with two heads, 6 slots and length 10.
Index projections_of(const std::string& mode) {
  ModelSettings settings = small_settings();
  settings.attention = {"linformer"};
  settings.causal = false;
  tests::GivenFields fields(sharing(mode, 6));
  const AttentionPlans plans{{"linformer", read_attention(fields, "linformer", settings.site(10))}};
  LanguageModel model(settings, plans, 11, 10);
  autograd::Inventory inventory;
  model.visit(inventory);
  Index numbers = 0;
  for (const auto& named : inventory.parameters())
    if (named.name.find("projection") != std::string::npos ||
        named.name.find("shared.") != std::string::npos)
      if (named.name.find("attention.projection.") == std::string::npos)
        numbers += named.parameter->shape().size();
  return numbers / 60;
}

TEST(Linformer, has_as_many_projections_as_its_sharing_says) {
  EXPECT_EQ(projections_of("none"), 2 * 2 * 2);
  EXPECT_EQ(projections_of("headwise"), 2 * 2);
  EXPECT_EQ(projections_of("key_value"), 2);
  EXPECT_EQ(projections_of("layerwise"), 1);
}

TEST(Linformer, leaves_padding_unread_and_gives_zeros_where_all_is_padding) {
  AttentionSample it("linformer", padded(Sequences::self(2, 50, false), {0, 31}), 2, 4);
  const auto before = it.run();
  for (const Real x : before.out.rows(0, 50).read()) EXPECT_EQ(x, 0);
  for (const std::size_t side : {1, 2}) {
    std::ranges::fill(it.inputs()[side].write().first(50 * 8), Real(1e6));
    std::ranges::fill(it.inputs()[side].write().subspan(81 * 8), Real(1e6));
  }
  const auto after = it.run();
  EXPECT_TRUE(same_bits(before.out.read(), after.out.read()));
  EXPECT_TRUE(same_bits(before.parameter_gradients, after.parameter_gradients));
  for (const std::size_t side : {1, 2})
    for (const Real x : after.gradients[side].rows(81, 19).read()) EXPECT_EQ(x, 0);
}

TEST(Linformer, shorter_sequences_use_the_first_columns) {
  AttentionSample longer("linformer", Sequences::self(1, 40, false), 2, 4);
  const auto forward = [&](const AttentionSample& it, Index length) {
    AttentionInput input{{}, Var(it.inputs()[3]), Sequences::self(1, length, false)};
    for (const std::size_t i : {0, 1, 2})
      input.blocks.push_back({Var(it.inputs()[i].rows(0, length)), 0});
    return it.attention().forward(Pass(), input).value();
  };
  AttentionSample cut("linformer", padded(Sequences::self(1, 40, false), {25}), 2, 4);
  tests::expect_close(forward(longer, 25).read(),
                      tests::in_double(cut.evaluate().rows(0, 25).read()), tolerance);
}

// Why there is no causal form: outputs before a change do not keep their bits.
TEST(Linformer, lets_every_output_see_every_token) {
  AttentionSample it("linformer", Sequences::self(1, 40, false), 2, 4);
  const Tensor before = it.evaluate();
  for (const std::size_t side : {1, 2}) it.inputs()[side].write().back() += 1;
  EXPECT_FALSE(same_bits(before.rows(0, 1).read(), it.evaluate().rows(0, 1).read()));
}

TEST(Linformer, refuses_causal_use_decoding_and_sequences_longer_than_its_projections) {
  const AttentionSample it("linformer", Sequences::self(1, 9, false), 2, 4);
  const auto forward = [&](const Tensor& block, const Sequences& s) {
    return it.attention().forward(Pass(),
                                  {{{Var(block), 0}, {Var(block), 0}, {Var(block), 0}}, {}, s});
  };
  EXPECT_NO_THROW(forward(Tensor({9, 8}, 0), Sequences::self(1, 9, false)));
  EXPECT_THROW(forward(Tensor({9, 8}, 0), Sequences::self(1, 9, true)), core::Error);
  EXPECT_THROW(forward(Tensor({10, 8}, 0), Sequences::self(1, 10, false)), core::Error);
  EXPECT_THROW(it.attention().begin(), core::Error);
  ModelSettings settings = small_settings();
  settings.attention = {"linformer"};
  const AttentionPlans plans = default_plans(settings, 10);
  EXPECT_NE(why_unfit(plans.at("linformer"), settings.site(10)).find("model.causal"),
            std::string::npos);
  EXPECT_THROW(LanguageModel(settings, plans, 11, 10), core::Error);
  settings.causal = false;
  EXPECT_EQ(why_unfit(plans.at("linformer"), settings.site(10)), "");
  EXPECT_NO_THROW(LanguageModel(settings, plans, 11, 10));
}

TEST(SharedTables, give_the_same_table_for_the_same_name_only) {
  SharedTables tables;
  const auto& one = tables.lend("a", {2, 3}, autograd::Init::zeros());
  EXPECT_EQ(&tables.lend("a", {2, 3}, autograd::Init::zeros()), &one);
  EXPECT_NE(&tables.lend("b", {2, 3}, autograd::Init::zeros()), &one);
  EXPECT_THROW(tables.lend("a", {3, 2}, autograd::Init::zeros()), core::Error);
  autograd::Inventory inventory;
  tables.visit(inventory);
  EXPECT_EQ(inventory.parameters().size(), 2u);
}

}  // namespace
}  // namespace weft::layers::linformer_contract_test
