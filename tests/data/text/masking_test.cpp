#include "data/text/masking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "data/text/masked_text.h"
#include "tests/data/batch_equality.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::masking_test {
namespace {

MaskingSettings bert() { return {.masking = MaskingSettings::Kind::bert}; }
MaskingSettings spans() { return {.masking = MaskingSettings::Kind::spans}; }

/// Pearson's statistic of counts that should be equal.
double chi_square(const std::vector<double>& counts) {
  const double mean = std::reduce(counts.begin(), counts.end()) / double(counts.size());
  double sum = 0;
  for (const double count : counts) sum += (count - mean) * (count - mean) / mean;
  return sum;
}

/// A sequence of which some is hidden.
struct Hidden {
  std::vector<Token> original, tokens, targets;

  Hidden(const MaskingSettings& settings, Index n, std::uint64_t seed, Index vocabulary = 20)
      : original(std::size_t(n)), targets(std::size_t(n), 7) {
    for (std::size_t i = 0; i < original.size(); ++i)
      original[i] = Token(core::Rng(9).below(i, vocabulary));
    tokens = original;
    Masking(settings, vocabulary).hide(tokens, targets, core::Rng(seed));
  }
  Index chosen() const {
    return std::ranges::count_if(targets, [](Token t) { return t != core::no_target; });
  }
};

TEST(Masking, bert_chooses_exactly_the_rounded_share_and_scores_nothing_else) {
  for (const auto& [n, expected] : {std::pair{100, 15}, {128, 19}, {10, 2}, {3, 1}, {1, 1}})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Hidden hidden(bert(), n, seed);
      EXPECT_EQ(hidden.chosen(), expected);
      for (std::size_t i = 0; i < hidden.tokens.size(); ++i) {
        if (hidden.targets[i] == core::no_target)
          EXPECT_EQ(hidden.tokens[i], hidden.original[i]);
        else
          EXPECT_EQ(hidden.targets[i], hidden.original[i]);
      }
    }
}

TEST(Masking, bert_masks_eighty_replaces_ten_and_keeps_ten_of_a_hundred_chosen) {
  double masked = 0, kept = 0, all = 0;
  std::vector<double> replaced(20, 0);
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Hidden hidden(bert(), 200, seed);
    for (std::size_t i = 0; i < hidden.tokens.size(); ++i) {
      if (hidden.targets[i] == core::no_target) continue;
      ++all;
      if (hidden.tokens[i] == 20)
        ++masked;
      else if (hidden.tokens[i] == hidden.original[i])
        ++kept;
      else
        ++replaced[std::size_t(hidden.tokens[i])];
    }
  }
  EXPECT_EQ(all, 400 * 30);
  EXPECT_NEAR(masked / all, 0.8, 0.012);
  EXPECT_NEAR(kept / all, 0.1 + 0.1 / 20, 0.01);  // a random token may be the same one
  EXPECT_GT(*std::ranges::min_element(replaced), 0);
}

TEST(Masking, every_place_is_chosen_equally_often) {
  std::vector<double> single(40, 0);
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (const Index place : random_places(40, 6, core::Rng(seed))) ++single[std::size_t(place)];
  EXPECT_LT(chi_square(single), 70);  // 39 degrees of freedom: exceeded once in 600
}

TEST(Masking, spans_hide_exactly_the_share_in_the_stated_number_of_spans) {
  for (const auto& [n, hidden, count] :
       {std::tuple{512, 77, 26}, {100, 15, 5}, {20, 3, 1}, {2, 1, 1}, {7, 1, 1}})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto found = random_spans(n, 0.15, 3, core::Rng(seed));
      EXPECT_EQ(Index(found.size()), count);
      Index total = 0, before = 0;
      for (const Span& span : found) {
        EXPECT_GT(span.begin, before);  // at least one token stands between spans, and at the start
        EXPECT_GE(span.size, 1);
        total += span.size;
        before = span.begin + span.size;
      }
      EXPECT_EQ(total, hidden);
      EXPECT_EQ(before, n);
    }
  EXPECT_THROW(random_spans(1, 0.15, 3, core::Rng(1)), core::Error);
  EXPECT_EQ(random_spans(4, 0.9, 1, core::Rng(1)).size(), 1u);  // more would need more gaps
}

TEST(Masking, every_way_of_cutting_spans_is_equally_probable) {
  // Three hidden tokens of ten in two spans: 2 ways to cut them, 6 to cut the rest.
  std::map<std::pair<Index, Index>, double> ways;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto found = random_spans(10, 0.3, 1.5, core::Rng(seed));
    ASSERT_EQ(found.size(), 2u);
    ++ways[{found[0].begin, found[0].size}];
  }
  ASSERT_EQ(ways.size(), 12u);
  std::vector<double> counts;
  for (const auto& [way, count] : ways) counts.push_back(count);
  EXPECT_LT(chi_square(counts), 31);  // 11 degrees of freedom: exceeded once in 900
}

TEST(Masking, every_token_of_a_span_becomes_the_mask_and_is_scored_where_it_stood) {
  const Hidden hidden(spans(), 100, 3);
  EXPECT_EQ(hidden.chosen(), 15);
  for (std::size_t i = 0; i < 100; ++i) {
    if (hidden.targets[i] == core::no_target) {
      EXPECT_EQ(hidden.tokens[i], hidden.original[i]);
    } else {
      EXPECT_EQ(hidden.tokens[i], 20);
      EXPECT_EQ(hidden.targets[i], hidden.original[i]);
    }
  }
}

TextSettings masked(const ScratchFile& file, MaskingSettings::Kind kind) {
  TextSettings settings;
  settings.files.path = file.path();
  settings.files.fractions = {0.5, 0.5, 0};
  settings.hidden.masking = kind;
  return settings;
}

std::string letters(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += char('a' + core::Rng(4).below(std::uint64_t(i), 3));
  return text;
}

TEST(MaskedText, a_batch_depends_on_seed_and_number_and_evaluation_on_neither) {
  const ScratchFile file(letters(1000));
  for (const auto kind : {MaskingSettings::Kind::bert, MaskingSettings::Kind::spans}) {
    const MaskedText one(masked(file, kind), 40, 4, 1), again(masked(file, kind), 40, 4, 1),
        other(masked(file, kind), 40, 4, 2);
    EXPECT_EQ(one.vocabulary(), 257);
    EXPECT_EQ(one.unit(), "masked byte");
    EXPECT_TRUE(same(one.training(3), again.training(3)));
    EXPECT_FALSE(same(one.training(3), one.training(4)));
    EXPECT_FALSE(same(one.training(3), other.training(3)));
    EXPECT_TRUE(
        same(one.evaluation(Split::validation, 1, 40), other.evaluation(Split::validation, 1, 40)));
    EXPECT_EQ(one.fingerprint(), other.fingerprint());
  }
  EXPECT_NE(MaskedText(masked(file, MaskingSettings::Kind::bert), 40, 4, 1).fingerprint(),
            MaskedText(masked(file, MaskingSettings::Kind::spans), 40, 4, 1).fingerprint());
}

TEST(MaskedText, evaluation_reads_every_token_and_scores_none_twice) {
  for (const int size : {80, 81, 119, 120}) {
    const ScratchFile file(letters(2 * size));
    const MaskedText data(masked(file, MaskingSettings::Kind::bert), 40, 2, 1);
    const std::string validation = letters(2 * size).substr(std::size_t(size));
    const Index windows = (size + 39) / 40;
    EXPECT_EQ(data.evaluation_batches(Split::validation, 40), (windows + 1) / 2);
    Index scored = 0;
    for (Index window = 0; window < windows; ++window) {
      const Batch batch = data.evaluation(Split::validation, window / 2, 40);
      const auto targets = batch.targets.read().subspan(std::size_t(window % 2 * 40), 40);
      const Index begin = std::min<Index>(40 * window, size - 40);
      for (std::size_t i = 0; i < 40; ++i) {
        if (targets[i] == core::no_target) continue;
        ++scored;
        EXPECT_GE(begin + Index(i), 40 * window);  // not read by the window before
        EXPECT_EQ(targets[i], validation[std::size_t(begin) + i]);
      }
    }
    EXPECT_GE(scored, 6 * (size / 40));
    EXPECT_LE(scored, 6 * windows);
  }
}

TEST(MaskedText, baselines_are_the_most_frequent_token_and_what_stands_there) {
  const ScratchFile file(letters(20000));
  const auto baselines =
      MaskedText(masked(file, MaskingSettings::Kind::bert), 100, 4, 1).baselines(Split::validation);
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_EQ(baselines[0].name, "what stands there");
  EXPECT_NEAR(baselines[0].accuracy, 0.1 + 0.1 / 256, 0.03);
  EXPECT_EQ(baselines[1].name, "most frequent byte");
  EXPECT_NEAR(baselines[1].accuracy, 1 / 3.0, 0.04);
  EXPECT_EQ(MaskedText(masked(file, MaskingSettings::Kind::spans), 100, 4, 1)
                .baselines(Split::validation)
                .size(),
            1u);
}

TEST(MaskedText, a_hidden_token_prints_as_a_block) {
  const ScratchFile file(letters(200));
  const MaskedText data(masked(file, MaskingSettings::Kind::bert), 40, 2, 1);
  EXPECT_EQ(data.decode(std::vector<Token>{'a', 256, 256, 'b', 256}), "a\u2588\u2588b\u2588");
  EXPECT_EQ(data.encode("ab"), (std::vector<Token>{'a', 'b'}));
}

TEST(MaskedText, says_what_to_do_about_a_short_split_a_stride_and_streams) {
  const ScratchFile file(letters(200));
  TextSettings settings = masked(file, MaskingSettings::Kind::bert);
  const MaskedText data(settings, 40, 2, 1);
  expect_says(refusal_of([&] { data.evaluation_batches(Split::test, 40); }), core::Fault::data,
              "test split holds 0 bytes", "data.fractions", "data.test_path");
  expect_says(refusal_of([&] { data.evaluation_batches(Split::validation, 20); }),
              core::Fault::usage, "--stride", "40");
  settings.sampling = TextSettings::Sampling::streams;
  EXPECT_THROW(MaskedText(settings, 40, 2, 1), core::Error);
}

}  // namespace
}  // namespace weft::data::masking_test
