#include "data/text/text.h"

#include <map>
#include <set>

#include "tests/data/batch_equality.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::text_test {
namespace {

/// Bytes that seldom repeat, so that what is read identifies its place in the text.
std::string varied_text(Index size) {
  std::string text;
  for (Index i = 0; i < size; ++i) text += char(core::Rng(99).below(std::uint64_t(i), 256));
  return text;
}

TextSettings settings_for(const ScratchFile& file) {
  TextSettings settings;
  settings.files.path = file.path();
  return settings;
}

std::string row_of(const Text& text, const core::Tokens& tokens, Index row) {
  const auto length = std::size_t(tokens.shape().back());
  return text.decode(tokens.read().subspan(std::size_t(row) * length, length));
}

TEST(Text, bytes_are_their_own_tokens) {
  const ScratchFile file("h\xc3\xa9\xff!");
  const Text text(settings_for(file), 2, 1, 1);
  EXPECT_EQ(text.vocabulary(), 256);
  EXPECT_EQ(text.unit(), "byte");
  EXPECT_EQ(text.encode("\xff"), (std::vector<Token>{255}));
  EXPECT_EQ(text.decode(text.encode("any \xff\xc3 bytes")), "any \xff\xc3 bytes");
  EXPECT_THROW(text.decode(std::vector<Token>{256}), core::Error);
}

TEST(Text, characters_are_the_distinct_ones_of_the_file_in_order) {
  const ScratchFile file("zebra € zebra ä");
  TextSettings settings = settings_for(file);
  settings.units.kind = Unit::characters;
  const Text text(settings, 4, 1, 1);
  EXPECT_EQ(text.vocabulary(), 8);
  EXPECT_EQ(text.unit(), "character");
  EXPECT_EQ(text.encode(" abä€"), (std::vector<Token>{0, 1, 2, 6, 7}));
  EXPECT_EQ(text.decode(text.encode("bär€")), "bär€");
  expect_says(refusal_of([&] { text.encode("quiz"); }), core::Fault::usage, "'q'");
}

TEST(Text, targets_are_the_tokens_one_later) {
  const ScratchFile file(varied_text(500));
  const Text text(settings_for(file), 16, 4, 7);
  const Batch batch = text.training(3);
  EXPECT_EQ(batch.inputs.shape(), (core::Shape{4, 16}));
  EXPECT_EQ(batch.targets.shape(), (core::Shape{4, 16}));
  EXPECT_EQ(batch.distances.size(), 0);
  for (Index row = 0; row < 4; ++row) {
    EXPECT_EQ(row_of(text, batch.inputs, row).substr(1),
              row_of(text, batch.targets, row).substr(0, 15));
  }
}

TEST(Text, a_batch_depends_on_its_number_only) {
  const ScratchFile file(varied_text(2000));
  for (const auto sampling : {TextSettings::Sampling::crops, TextSettings::Sampling::streams}) {
    TextSettings settings = settings_for(file);
    settings.sampling = sampling;
    const Text one(settings, 32, 3, 5), other(settings, 32, 3, 5);
    std::vector<Batch> forwards;
    for (Index i = 0; i < 20; ++i) forwards.push_back(one.training(i));
    for (Index i = 19; i >= 0; --i) {
      EXPECT_TRUE(same(other.training(i), forwards[std::size_t(i)]))
          << name_of(sampling) << " " << i;
    }
  }
}

TEST(Text, crops_depend_on_the_seed_but_not_on_how_sequences_are_batched) {
  const ScratchFile file(varied_text(2000));
  const Text narrow(settings_for(file), 32, 2, 5), wide(settings_for(file), 32, 4, 5),
      other_seed(settings_for(file), 32, 4, 6);
  const Batch whole = wide.training(1);
  for (Index row = 0; row < 4; ++row) {
    EXPECT_EQ(row_of(wide, whole.inputs, row),
              row_of(narrow, narrow.training(2 + row / 2).inputs, row % 2));
  }
  EXPECT_FALSE(same(whole, other_seed.training(1)));
}

TEST(Text, crops_reach_every_place_of_the_training_split_and_none_beyond) {
  const std::string content = varied_text(120);
  const ScratchFile file(content);
  const Text text(settings_for(file), 8, 16, 1);
  ASSERT_EQ(text.training_tokens(), 108);
  std::map<std::string, int> seen;
  for (Index i = 0; i < 400; ++i) {
    const Batch batch = text.training(i);
    for (Index row = 0; row < 16; ++row) {
      ++seen[row_of(text, batch.inputs, row) + row_of(text, batch.targets, row).back()];
    }
  }
  EXPECT_EQ(seen.size(), 100u);
  for (Index begin = 0; begin < 100; ++begin) {
    const int count = seen[content.substr(std::size_t(begin), 9)];
    EXPECT_GT(count, 24) << begin;  // 64 expected, 8 the standard deviation
    EXPECT_LT(count, 104) << begin;
  }
}

TEST(Text, streams_continue_from_batch_to_batch_and_every_pass_begins_at_a_place_of_its_own) {
  const std::string content = varied_text(1000);
  const ScratchFile file(content);
  TextSettings settings = settings_for(file);
  settings.sampling = TextSettings::Sampling::streams;
  settings.files.fractions = {1, 0, 0};
  constexpr Index stream = 333, segments = 32, passes = 40;
  const Text text(settings, 10, 3, 1);
  std::set<std::size_t> places;
  for (Index pass = 0; pass < passes; ++pass)
    for (Index row = 0; row < 3; ++row) {
      std::string read;
      for (Index i = 0; i < segments; ++i)
        read += row_of(text, text.training(pass * segments + i).inputs, row);
      const std::size_t found = content.substr(std::size_t(stream * row), stream).find(read);
      ASSERT_NE(found, std::string::npos) << "a pass reads its own stream, without a gap";
      places.insert(found);
    }
  EXPECT_GT(places.size(), 8u) << "of 14 places";
  EXPECT_EQ(*places.rbegin(), std::size_t(stream - 10 * segments));
  for (Index i = 0; i < 70; ++i) EXPECT_EQ(text.training(i).continues, i % segments > 0) << i;
}

TEST(Text, splits_follow_one_another_in_the_file) {
  const ScratchFile file(varied_text(1115));
  TextSettings settings = settings_for(file);
  const Text by_default(settings, 16, 2, 1);
  EXPECT_EQ(by_default.tokens(Split::training), 1003);
  EXPECT_EQ(by_default.tokens(Split::validation), 112);
  EXPECT_EQ(by_default.tokens(Split::test), 0);
  settings.files.fractions = {0.7, 0.2, 0.1};
  const Text three(settings, 16, 2, 1);
  EXPECT_EQ(
      three.tokens(Split::training) + three.tokens(Split::validation) + three.tokens(Split::test),
      1115);
  settings.files.fractions = {0.25, 0.25, 0.25};
  EXPECT_EQ(Text(settings, 16, 2, 1).tokens(Split::test), 279);  // 836 - 557
}

TEST(Text, three_paths_are_the_three_splits_with_one_vocabulary) {
  const ScratchFile training("abcabcabc"), validation("abcd"), test("xyz!");
  TextSettings settings;
  settings.files.train_path = training.path();
  settings.files.validation_path = validation.path();
  settings.files.test_path = test.path();
  settings.units.kind = Unit::characters;
  const Text text(settings, 4, 1, 1);
  EXPECT_EQ(text.vocabulary(), 8);
  EXPECT_EQ(text.training_tokens(), 9);
  EXPECT_EQ(row_of(text, text.evaluation(Split::test, 0, 4).inputs, 0).substr(0, 3), "xyz");
  EXPECT_EQ(row_of(text, text.evaluation(Split::validation, 0, 4).inputs, 0).substr(0, 3), "abc");
}

TEST(Text, fingerprint_tells_content_and_settings_apart_but_not_seed_or_place) {
  const ScratchFile file(varied_text(500)), copy(varied_text(500)), changed(varied_text(499) + "?");
  const std::string original = Text(settings_for(file), 16, 2, 1).fingerprint();
  EXPECT_EQ(original.size(), 32u);
  EXPECT_EQ(Text(settings_for(copy), 16, 4, 2).fingerprint(), original);
  EXPECT_NE(Text(settings_for(changed), 16, 2, 1).fingerprint(), original);
  EXPECT_NE(Text(settings_for(file), 17, 2, 1).fingerprint(), original);
  TextSettings settings = settings_for(file);
  settings.sampling = TextSettings::Sampling::streams;
  EXPECT_NE(Text(settings, 16, 2, 1).fingerprint(), original);
  settings = settings_for(file);
  settings.files.fractions = {0.8, 0.1, 0.1};
  EXPECT_NE(Text(settings, 16, 2, 1).fingerprint(), original);
}

}  // namespace
}  // namespace weft::data::text_test
