#include "data/tasks/listops.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"

namespace weft::data::listops_test {
namespace {

using listops::Expression;
using listops::Grammar;

/// An evaluator that knows nothing of tokens: it reads the spelled expression word by word.
int value_of(std::istream& words) {
  std::string word;
  words >> word;
  if (word.size() == 1) return word[0] - '0';
  std::multiset<int> arguments;
  while ((words >> std::ws).peek() != ']') arguments.insert(value_of(words));
  words.get();
  int sum = 0;
  for (const int argument : arguments) sum += argument;
  if (word == "[SM") return sum % 10;
  if (word == "[MIN") return *arguments.begin();
  if (word == "[MAX") return *arguments.rbegin();
  while (arguments.size() > 2) {
    arguments.erase(arguments.begin());
    arguments.erase(std::prev(arguments.end()));
  }
  return int(std::floor(double(*arguments.begin() + *arguments.rbegin()) / 2));
}

int value_of(const std::string& text) {
  std::istringstream words(text);
  return value_of(words);
}

/// What one row of a batch spells.
std::string row_of(const Batch& batch, Index row) {
  const Index length = batch.inputs.shape()[1];
  const Index real = batch.lengths ? (*batch.lengths)[std::size_t(row)] : length;
  return listops::spelled(
      batch.inputs.read().subspan(std::size_t(row * length), std::size_t(real)));
}

ListopsSettings small() { return {.shortest = 8, .held_out = 40}; }

TEST(ListopsGrammar, the_operators_are_minimum_maximum_truncated_median_and_sum_modulo_ten) {
  const auto value = [](const char* text) { return listops::evaluate(listops::read(text)); };
  EXPECT_EQ(value("[MIN 4 2 9 ]"), 2);
  EXPECT_EQ(value("[MAX 4 2 9 ]"), 9);
  EXPECT_EQ(value("[MED 4 2 9 ]"), 4);
  EXPECT_EQ(value("[MED 4 2 9 5 ]"), 4);  // 4.5
  EXPECT_EQ(value("[MED 9 8 ]"), 8);      // 8.5
  EXPECT_EQ(value("[SM 4 2 9 ]"), 5);
  EXPECT_EQ(value("[MAX 2 [MIN 4 7 ] [SM 5 5 ] ]"), 4);
  EXPECT_EQ(value("( ( ( [MAX 2 ) ( ( [MIN 4 ) ] ) ) ] )"), 4);
  EXPECT_EQ(value("7"), 7);
}

TEST(ListopsGrammar, evaluating_some_levels_leaves_out_what_is_nested_deeper) {
  const Expression tree = listops::read("[MIN 8 [MAX 1 2 [SM 3 3 ] ] 7 ]");
  EXPECT_EQ(listops::evaluate(tree, 1), 7);
  EXPECT_EQ(listops::evaluate(tree, 2), 2);
  EXPECT_EQ(listops::evaluate(tree, 3), 6);
  EXPECT_EQ(listops::evaluate(tree), 6);
  EXPECT_EQ(listops::depth_of(tree), 3);
  EXPECT_EQ(listops::evaluate(listops::read("[MIN [MAX 1 2 ] [SM 1 2 ] ]"), 1), std::nullopt);
}

TEST(ListopsGrammar, refuses_what_is_no_expression) {
  for (const char* text : {"[MIN ]", "[MIN 1", "1 2", "]", "[MIN 1 ] ]", "", "_"})
    EXPECT_THROW(listops::evaluate(listops::read(text)), core::Error) << text;
  expect_says(refusal_of([] { listops::read("[MIN 1 [AVG 2 3 ] ]"); }), core::Fault::usage,
              "'[AVG'", "at byte 7");
}

TEST(ListopsGrammar, has_the_acceptance_lengths_depth_and_labels_of_the_long_range_arena) {
  const Grammar grammar;
  constexpr int attempts = 16000;
  double accepted = 0, tokens = 0, zeros = 0, nines = 0;
  for (int i = 0; i < attempts; ++i) {
    const auto grown = grammar.grow(core::Rng(5).fold(std::uint64_t(i)), 501, 1999);
    if (!grown) continue;
    ++accepted;
    tokens += double(grown->size());
    EXPECT_GT(grown->size(), 500u);
    EXPECT_LT(grown->size(), 2000u);
    EXPECT_EQ(listops::depth_of(*grown), 9);
    zeros += listops::evaluate(*grown) == 0;
    nines += listops::evaluate(*grown) == 9;
  }
  EXPECT_NEAR(accepted / attempts, 0.083, 0.005);
  EXPECT_NEAR(tokens / accepted, 1060, 40);
  EXPECT_NEAR(zeros / accepted, 0.169, 0.025);
  EXPECT_NEAR(nines / accepted, 0.169, 0.025);
}

TEST(ListopsGrammar, draws_arguments_operators_and_digits_uniformly) {
  const Grammar grammar{.depth = 2};
  std::array<double, 11> arguments{};
  std::array<double, 4> operators{};
  std::array<double, 10> digits{};
  double nested = 0, all_digits = 0;
  constexpr int attempts = 8000;
  for (int i = 0; i < attempts; ++i) {
    const auto grown = grammar.grow(core::Rng(6).fold(std::uint64_t(i)), 1, 100);
    ASSERT_TRUE(grown);
    for (const Token token : *grown)
      if (listops::is_digit(token)) ++digits[std::size_t(token - 1)], ++all_digits;
    if (grown->size() == 1) continue;
    ++nested;
    ++operators[std::size_t(listops::operator_of((*grown)[0]))];
    ++arguments[grown->size() - 2];
  }
  EXPECT_NEAR(nested / attempts, 0.25, 0.02);
  EXPECT_EQ(arguments[0] + arguments[1], 0);
  for (std::size_t a = 2; a <= 10; ++a) EXPECT_NEAR(arguments[a] / nested, 1 / 9.0, 0.03);
  for (const double count : operators) EXPECT_NEAR(count / nested, 0.25, 0.04);
  for (const double count : digits) EXPECT_NEAR(count / all_digits, 0.1, 0.01);
}

TEST(Listops, labels_are_what_an_independent_evaluator_says) {
  const Listops data(small(), 60, 16, 1);
  EXPECT_EQ(data.vocabulary(), 16);
  EXPECT_EQ(data.classes(), 10);
  for (Index number = 0; number < 8; ++number) {
    const Batch batch = data.training(number);
    ASSERT_EQ(batch.inputs.shape(), (core::Shape{16, 60}));
    ASSERT_EQ(batch.targets.shape(), (core::Shape{16, 1}));
    for (Index row = 0; row < 16; ++row) {
      const Index size = (*batch.lengths)[std::size_t(row)];
      EXPECT_GE(size, 8);
      const auto tokens = batch.inputs.read().subspan(std::size_t(row * 60), 60);
      EXPECT_EQ(std::ranges::count(tokens, 0), 60 - size);
      EXPECT_EQ(batch.targets.read()[std::size_t(row)], value_of(row_of(batch, row)));
    }
  }
}

TEST(Listops, held_out_expressions_are_all_different_and_never_trained_on) {
  // So few expressions of four tokens exist that training would meet all of them.
  const Listops data({.shortest = 4, .held_out = 90}, 4, 30, 1);
  std::multiset<std::string> held_out;
  for (const Split split : {Split::validation, Split::test})
    for (Index i = 0; i < data.evaluation_batches(split, 4); ++i) {
      const Batch batch = data.evaluation(split, i, 4);
      for (Index row = 0; row < 30; ++row) held_out.insert(row_of(batch, row));
    }
  EXPECT_EQ(held_out.size(), 180u);
  EXPECT_EQ(std::set(held_out.begin(), held_out.end()).size(), 180u);
  for (Index number = 0; number < 20; ++number) {
    const Batch batch = data.training(number);
    for (Index row = 0; row < 30; ++row) EXPECT_FALSE(held_out.contains(row_of(batch, row)));
  }
  EXPECT_EQ(data.training(0).lengths, nullptr);  // nothing is padded
  EXPECT_THROW(Listops({.shortest = 4, .held_out = 201}, 4, 30, 1), core::Error);
}

TEST(Listops, a_batch_depends_on_seed_and_number_and_held_out_ones_on_neither) {
  const Listops one(small(), 40, 4, 1), again(small(), 40, 4, 1), other(small(), 40, 4, 2);
  EXPECT_TRUE(same(one.training(3), again.training(3)));
  EXPECT_FALSE(same(one.training(3), one.training(4)));
  EXPECT_FALSE(same(one.training(3), other.training(3)));
  EXPECT_EQ(one.evaluation_batches(Split::validation, 40), 10);
  EXPECT_TRUE(same(one.evaluation(Split::test, 7, 40), other.evaluation(Split::test, 7, 20)));
  EXPECT_FALSE(same(one.evaluation(Split::test, 7, 40), one.evaluation(Split::validation, 7, 40)));
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
  EXPECT_NE(one.fingerprint(), Listops(small(), 41, 4, 1).fingerprint());
}

TEST(Listops, a_row_without_an_expression_scores_nothing) {
  const Listops data({.shortest = 8, .held_out = 5}, 40, 4, 1);
  ASSERT_EQ(data.evaluation_batches(Split::validation, 40), 2);
  const Batch last = data.evaluation(Split::validation, 1, 40);
  EXPECT_GE(last.targets.read()[0], 0);
  for (std::size_t row = 1; row < 4; ++row) {
    EXPECT_EQ(last.targets.read()[row], core::no_target);
    EXPECT_EQ((*last.lengths)[row], 1);
  }
}

TEST(Listops, a_number_of_examples_comes_round_once_an_epoch_in_new_orders) {
  const ListopsSettings settings{.shortest = 8, .examples = 24, .held_out = 4};
  const Listops data(settings, 40, 8, 1), other(settings, 40, 8, 2);
  const auto epoch = [](const Listops& from, Index number) {
    std::vector<std::string> rows;
    for (Index i = 0; i < 3; ++i)
      for (Index row = 0; row < 8; ++row)
        rows.push_back(row_of(from.training(3 * number + i), row));
    return rows;
  };
  auto first = epoch(data, 0), second = epoch(data, 1), foreign = epoch(other, 0);
  EXPECT_NE(first, second);
  EXPECT_NE(first, foreign);
  for (auto* rows : {&first, &second, &foreign}) std::ranges::sort(*rows);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, foreign);
}

TEST(Listops, the_baselines_of_the_long_range_arena_are_those_of_its_models) {
  const Listops data({.held_out = 600}, 1999, 8, 1);
  const auto baselines = data.baselines(Split::validation);
  const std::vector<std::pair<std::string, double>> expected = {
      {"majority", 0.169},
      {"root operator", 0.361},
      {"root operator and its literal arguments", 0.48},
      {"2 levels", 0.68},
      {"3 levels", 0.80},
      {"4 levels", 0.87}};
  ASSERT_EQ(baselines.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(baselines[i].name, expected[i].first);
    EXPECT_NEAR(baselines[i].accuracy, expected[i].second, 0.04) << baselines[i].name;
  }
  EXPECT_EQ(data.chance(), 0.1);
}

TEST(Listops, baselines_are_counted_on_the_split_that_is_asked_for) {
  const Listops data(small(), 40, 8, 1);
  std::array<int, 10> labels{};
  for (Index i = 0; i < 5; ++i) {
    const Batch batch = data.evaluation(Split::test, i, 40);
    for (const Token label : batch.targets.read()) ++labels[std::size_t(label)];
  }
  EXPECT_EQ(data.baselines(Split::test)[0].accuracy, *std::ranges::max_element(labels) / 40.0);
}

TEST(Listops, reads_back_what_it_prints) {
  const Listops data(small(), 40, 4, 1);
  const Batch batch = data.training(0);
  const std::vector<Token> ids(batch.inputs.read().begin(), batch.inputs.read().end());
  EXPECT_EQ(data.encode(data.decode(ids)), ids);
}

TEST(ListopsSettings, classify_sequences_that_are_padded_unless_all_have_the_full_length) {
  const auto listops = [](Index shortest) {
    return GivenData({{"kind", string("listops")}, {"length", Index(40)}, {"shortest", shortest}});
  };
  EXPECT_TRUE(listops(10).traits().classifies);
  EXPECT_TRUE(listops(10).traits().pads);
  EXPECT_FALSE(listops(40).traits().pads);
  EXPECT_EQ(listops(40).problems(), Keys{});
  EXPECT_EQ(listops(41).problems(), Keys{"shortest"});
}

}  // namespace
}  // namespace weft::data::listops_test
