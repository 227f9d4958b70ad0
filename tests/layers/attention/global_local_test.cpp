// What ETC and BigBird's form ETC come down to where nothing is left out, and what they cost.
#include "core/error.h"
#include "layers/attention/global_local/attention.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/naive_dense.h"

namespace weft::layers::global_local_test {
namespace {

constexpr Index heads = 3, width = 4;
constexpr double close = sizeof(Real) == sizeof(double) ? 1e-12 : 1e-5;

void clear_labels(AttentionSample& it) { std::ranges::fill(it.arena().values(), Real(0)); }

std::vector<double> naive_rows(const AttentionSample& it,
                               const std::function<bool(Index, Index, Index)>& reads) {
  const NaiveDense naive{it.sequences(), heads, width, 1 / std::sqrt(double(width)), reads};
  return naive.forward(tests::in_double(it.inputs()[0].read()),
                       tests::in_double(it.inputs()[1].read()),
                       tests::in_double(it.inputs()[2].read()));
}

TEST(Etc, is_dense_over_global_tokens_and_tokens_when_the_window_holds_all) {
  const Index length = 40;
  AttentionSample it("etc", Sequences::self(2, length, false), heads, width,
                     {{"window", 2 * length - 1}, {"every", Index(9)}});
  clear_labels(it);
  tests::expect_close(it.evaluate().read(), naive_rows(it, {}), close);
}

TEST(Etc, is_block_diagonal_beside_its_global_tokens_when_both_sides_are_hard) {
  const Index length = 40, every = 9, globals = 1 + (length + every - 1) / every;
  AttentionSample it(
      "etc", Sequences::self(2, length, false), heads, width,
      {{"window", Index(1)}, {"every", every}, {"hard_l2g", true}, {"hard_g2l", true}});
  clear_labels(it);
  const auto sentence = [=](Index row) { return (row - globals) / every + 1; };
  tests::expect_close(it.evaluate().read(),
                      naive_rows(it,
                                 [=](Index, Index u, Index v) {
                                   if (u < globals && v < globals) return true;
                                   if (u < globals) return sentence(v) == u;
                                   return v < globals ? sentence(u) == v : u == v;
                                 }),
                      close);
}

TEST(Etc, lets_everything_read_the_tokens_of_a_question_that_are_global) {
  const Index length = 9, every = 3, question = 3, globals = 1 + question + 2;
  AttentionSample it("etc", Sequences::self(2, length, false), heads, width,
                     {{"window", Index(1)}, {"every", every}});
  clear_labels(it);
  const std::vector<core::Token> tokens{1, 7, 2, 7, 7, 7, 7, 7, 7};
  const RowLayout layout = GlobalRows({.every = every, .question = true}).layout(tokens);
  AttentionInput input{{}, Var(it.inputs().back()), it.sequences()};
  for (std::size_t i = 0; i < 3; ++i) input.blocks.push_back({Var(it.inputs()[i]), 0});
  const auto& etc = dynamic_cast<const GlobalLocalAttention&>(it.attention());
  const Tensor out =
      etc.attend(Pass(), input, std::vector(2, GlobalLocalStructure::of(layout))).value();
  tests::expect_close(out.read(),
                      naive_rows(it,
                                 [=](Index, Index u, Index v) {
                                   if (std::max(u, v) >= layout.rows) return false;
                                   return u < globals || v < globals || u == v;
                                 }),
                      close);
}

TEST(Etc, costs_in_proportion_to_the_length_for_as_many_global_tokens_short_or_long) {
  for (const std::string kind : {"etc", "bigbird"}) {
    const auto cost = [&](Index length) {
      tests::Settings settings{{"every", length / 32}};
      if (kind == "etc") settings.insert({"window", Index(33)});
      if (kind == "bigbird") settings.insert({{"form", "etc"}, {"block", Index(16)}});
      const AttentionSample it(kind, Sequences::self(1, length, false), 2, width, settings);
      return it.attention().cost(it.sequences());
    };
    const auto expect_twice = [](Index longer, Index shorter) {
      EXPECT_NEAR(double(longer) / double(shorter), 2, 0.15);
    };
    for (const Index length : {512, 2048}) {
      SCOPED_TRACE(kind + " at " + std::to_string(length));
      const Cost one = cost(length), two = cost(2 * length);
      expect_twice(two.scored_pairs, one.scored_pairs);
      expect_twice(two.flops, one.flops);
      expect_twice(two.backward_flops, one.backward_flops);
      EXPECT_LE(two.saved_bytes, 2 * one.saved_bytes);
    }
  }
}

TEST(GlobalRows, stand_for_blocks_of_tokens_or_for_what_a_separator_ends) {
  const RowLayout blocks = GlobalRows({.every = 3}).layout(Index(7));
  EXPECT_EQ(blocks.rows, 1 + 3 + 7);
  EXPECT_EQ(blocks.sentence_ends, (std::vector<Index>{3, 6, 7}));
  EXPECT_EQ(blocks.of_tokens.front(), 4);
  EXPECT_EQ(blocks.root, 0);
  const std::vector<core::Token> tokens{5, 9, 9, 4, 4, 9, 1};
  const GlobalRows by_token({.by = GlobalTokens::By::token, .separator = 9});
  EXPECT_EQ(by_token.layout(tokens).sentence_ends, (std::vector<Index>{2, 3, 6, 7}));
  EXPECT_EQ(by_token.layout(std::span(tokens).first(6)).sentence_ends,
            (std::vector<Index>{2, 3, 6}));
  EXPECT_EQ(GlobalLocalStructure::of(by_token.layout(tokens)).sentence,
            (std::vector<Index>{1, 1, 2, 3, 3, 3, 4}));
}

TEST(GlobalRows, have_the_tokens_of_a_question_before_those_of_sentences) {
  const std::vector<core::Token> tokens{1, 7, 2, 4, 9, 4, 9};
  for (const auto& [globals, ends] :
       {std::pair<GlobalTokens, std::vector<Index>>{{.every = 3, .question = true}, {3, 4}},
        {{.by = GlobalTokens::By::token, .separator = 9, .question = true}, {2, 4}}}) {
    const RowLayout layout = GlobalRows(globals).layout(tokens);
    EXPECT_EQ(layout.sentence_ends, ends);
    EXPECT_EQ(layout.rows, 1 + 3 + 2 + 4);
    EXPECT_EQ(layout.of_tokens, (std::vector<Index>{1, 2, 3, 6, 7, 8, 9}));
    EXPECT_EQ(layout.starts, (std::vector<RowLayout::Start>{{0, 0}, {4, 1}, {5, 1}}));
    const auto structure = GlobalLocalStructure::of(layout);
    EXPECT_EQ(structure.globals, 6);
    EXPECT_EQ(structure.tokens, 4);
    EXPECT_EQ(structure.sentence.front(), 4);
    EXPECT_EQ(structure.sentence.back(), 5);
  }
  EXPECT_EQ(GlobalRows({.question = true, .question_end = 8}).layout(tokens).starts.size(), 2u);
}

TEST(Etc, refuses_to_decode) {
  const AttentionSample it("etc", Sequences::self(1, 5, false), heads, width);
  EXPECT_THROW(it.attention().begin(), core::Error);
}

}  // namespace
}  // namespace weft::layers::global_local_test
