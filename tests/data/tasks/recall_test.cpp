#include "data/tasks/recall.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"

namespace weft::data::recall_test {
namespace {

std::vector<Token> row_of(const core::Tokens& tokens, Index row) {
  const auto length = std::size_t(tokens.shape().back());
  const auto found = tokens.read().subspan(std::size_t(row) * length, length);
  return {found.begin(), found.end()};
}

TEST(Recall, a_batch_depends_on_its_number_only) {
  const Recall one({}, 64, 3, 5), other({}, 64, 3, 5);
  std::vector<Batch> forwards;
  for (Index i = 0; i < 10; ++i) forwards.push_back(one.training(i));
  for (Index i = 9; i >= 0; --i) {
    EXPECT_TRUE(same(other.training(i), forwards[std::size_t(i)]));
  }
}

TEST(Recall, sequences_do_not_depend_on_how_they_are_batched) {
  const Recall narrow({}, 64, 2, 5), wide({}, 64, 4, 5);
  const Batch whole = wide.training(1);
  for (Index row = 0; row < 4; ++row) {
    EXPECT_EQ(row_of(whole.inputs, row), row_of(narrow.training(2 + row / 2).inputs, row % 2));
  }
}

TEST(Recall, targets_are_the_symbols_one_later_and_distances_belong_to_targets) {
  const Recall recall({}, 128, 8, 1);
  const Batch batch = recall.training(0);
  EXPECT_EQ(batch.inputs.shape(), (core::Shape{8, 128}));
  Index recalled = 0;
  for (Index row = 0; row < 8; ++row) {
    const auto inputs = row_of(batch.inputs, row), targets = row_of(batch.targets, row);
    const auto distances = row_of(batch.distances, row);
    for (Index i = 0; i + 1 < 128; ++i) {
      EXPECT_EQ(inputs[std::size_t(i + 1)], targets[std::size_t(i)]);
    }
    for (Index i = 0; i < 128; ++i) {
      const Index distance = distances[std::size_t(i)];
      if (distance == 0) continue;
      ++recalled;
      EXPECT_EQ(targets[std::size_t(i)], targets[std::size_t(i - distance)]);
    }
  }
  EXPECT_GT(recalled, 100);
}

TEST(Recall, held_out_sequences_are_the_same_for_every_seed_and_apart_from_training) {
  const Recall one({}, 64, 16, 1), other({}, 64, 16, 2);
  EXPECT_FALSE(same(one.training(0), other.training(0)));
  std::set<std::vector<Token>> rows;
  for (const Split split : {Split::validation, Split::test}) {
    EXPECT_EQ(one.evaluation_batches(split, 64), 16);
    for (Index i = 0; i < 16; ++i) {
      const Batch batch = one.evaluation(split, i, 64);
      EXPECT_TRUE(same(batch, other.evaluation(split, i, 64)));
      for (Index row = 0; row < 16; ++row) rows.insert(row_of(batch.inputs, row));
    }
  }
  for (Index i = 0; i < 16; ++i) {
    const Batch batch = one.training(i);
    for (Index row = 0; row < 16; ++row) rows.insert(row_of(batch.inputs, row));
  }
  EXPECT_EQ(rows.size(), 3u * 256u);
}

TEST(Recall, scores_every_held_out_symbol_once_and_pads_the_last_batch) {
  RecallSettings settings;
  settings.held_out = 10;
  const Recall recall(settings, 32, 4, 1);
  for (const Index stride : {1, 32}) {
    ASSERT_EQ(recall.evaluation_batches(Split::validation, stride), 3);
    Index scored = 0;
    for (Index i = 0; i < 3; ++i) {
      const Batch batch = recall.evaluation(Split::validation, i, stride);
      EXPECT_EQ(batch.inputs.shape(), (core::Shape{4, 32}));
      EXPECT_EQ(batch.distances.shape(), (core::Shape{4, 32}));
      scored += std::ranges::count_if(batch.targets.read(), [](Token t) { return t >= 0; });
    }
    EXPECT_EQ(scored, 10 * 32);
  }
  EXPECT_THROW(recall.evaluation(Split::validation, 3, 32), core::Error);
  EXPECT_THROW(recall.evaluation_batches(Split::validation, 33), core::Error);
}

TEST(Recall, floor_is_what_the_source_itself_gives_the_validation_symbols) {
  const Recall recall({}, 128, 32, 1);
  double bits = 0;
  std::vector<double> p(static_cast<std::size_t>(recall.vocabulary()));
  for (Index i = 0; i < recall.evaluation_batches(Split::validation, 128); ++i) {
    const Batch batch = recall.evaluation(Split::validation, i, 128);
    for (Index row = 0; row < 32; ++row) {
      RecallSequence sequence(recall.source());
      sequence.append(row_of(batch.inputs, row)[0]);
      for (const Token symbol : row_of(batch.targets, row)) {
        sequence.distribution(p);
        bits -= std::log2(p[std::size_t(symbol)]);
        sequence.append(symbol);
      }
    }
  }
  EXPECT_NEAR(recall.floor_bits(Split::validation).value(), bits / (256 * 128), 1e-9);
  const Dataset& dataset = recall;
  EXPECT_EQ(dataset.floor_bits(), recall.floor_bits(Split::validation));
}

TEST(Recall, floors_of_the_splits_agree_within_what_sampling_allows) {
  RecallSettings settings;
  settings.held_out = 2000;
  const Recall recall(settings, 128, 32, 1);
  const double floor = recall.floor_bits(Split::validation).value();
  EXPECT_NEAR(recall.floor_bits(Split::test).value(), floor, 0.02);
  EXPECT_NEAR(recall.floor_bits(Split::training).value(), floor, 0.02);
}

TEST(Recall, knows_the_chance_of_guessing) { EXPECT_EQ(Recall({}, 128, 1, 1).chance(), 1.0 / 26); }

TEST(Recall, prints_letters_and_digits_and_reads_them_back) {
  const Recall recall({}, 128, 1, 1);
  EXPECT_EQ(recall.vocabulary(), 34);
  EXPECT_EQ(recall.unit(), "symbol");
  EXPECT_EQ(recall.decode(std::vector<Token>{0, 25, 26, 33}), "az07");
  EXPECT_EQ(recall.encode("az07"), (std::vector<Token>{0, 25, 26, 33}));
  expect_says(refusal_of([&] { recall.encode("a b"); }), core::Fault::usage, "' '");
}

TEST(Recall, prints_large_vocabularies_too) {
  RecallSettings settings;
  settings.symbols = 1000;
  settings.keys = 500;
  const Recall recall(settings, 128, 1, 1);
  std::vector<Token> all(1500);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = Token(i);
  EXPECT_EQ(recall.encode(recall.decode(all)), all);
}

TEST(Recall, fingerprint_tells_settings_apart_but_not_seeds) {
  const std::string original = Recall({}, 128, 1, 1).fingerprint();
  EXPECT_EQ(original.size(), 32u);
  EXPECT_EQ(Recall({}, 128, 8, 2).fingerprint(), original);
  EXPECT_NE(Recall({}, 64, 1, 1).fingerprint(), original);
  RecallSettings settings;
  settings.language = 2;
  EXPECT_NE(Recall(settings, 128, 1, 1).fingerprint(), original);
}

TEST(Recall, streams_are_long_sequences_read_a_segment_at_a_time) {
  const Recall whole({}, 64, 3, 5), cut({.stream = 64}, 16, 3, 5);
  for (Index i = 0; i < 8; ++i) {
    const Batch long_one = whole.training(i / 4), segment = cut.training(i);
    EXPECT_EQ(segment.continues, i % 4 > 0);
    for (Index row = 0; row < 3; ++row) {
      const auto of = [&](const core::Tokens& tokens) {
        const auto all = row_of(tokens, row);
        return std::vector<Token>(all.begin() + i % 4 * 16, all.begin() + (i % 4 + 1) * 16);
      };
      EXPECT_EQ(row_of(segment.inputs, row), of(long_one.inputs));
      EXPECT_EQ(row_of(segment.targets, row), of(long_one.targets));
      EXPECT_EQ(row_of(segment.distances, row), of(long_one.distances));
    }
  }
  EXPECT_EQ(cut.evaluation_batches(Split::validation, 16),
            4 * whole.evaluation_batches(Split::validation, 64));
  EXPECT_TRUE(cut.evaluation(Split::validation, 5, 16).continues);
  EXPECT_EQ(cut.floor_bits(Split::validation), whole.floor_bits(Split::validation));
  EXPECT_NE(cut.fingerprint(), whole.fingerprint());
}

TEST(RecallSettings, report_what_does_not_go_together) {
  EXPECT_EQ(GivenData({{"successors", Index(27)}}).problems(), Keys{"successors"});
  EXPECT_EQ(GivenData({{"length", Index(7)}}).problems(), Keys{"length"});
  EXPECT_EQ(GivenData({{"stream", Index(200)}}).problems(), Keys{"stream"});
  EXPECT_FALSE(GivenData({}).traits().streams);
  const GivenData streams({{"stream", Index(256)}});
  EXPECT_EQ(streams.problems(), Keys{});
  EXPECT_TRUE(streams.traits().streams);
}

}  // namespace
}  // namespace weft::data::recall_test
