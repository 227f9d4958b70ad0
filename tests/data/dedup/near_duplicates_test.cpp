#include "data/dedup/near_duplicates.h"

#include <map>
#include <numeric>
#include <set>

#include "core/parallel.h"
#include "core/rng.h"
#include "data/dedup/shingles.h"
#include "tests/data/refusal.h"

namespace weft::data::near_duplicates_test {
namespace {

using core::Index;

/// Word `number` of a made-up language of 5000.
std::string word(std::uint64_t stream, Index number) {
  return "w" + std::to_string(core::Rng(stream).below(std::uint64_t(number), 5000));
}

std::string document(std::uint64_t stream, Index words) {
  std::string text;
  for (Index i = 0; i < words; ++i) text += (i ? " " : "") + word(stream, i);
  return text;
}

/// Copies of some originals with a few words changed in each.
std::vector<std::string> corpus(Index originals, Index copies, Index words) {
  std::vector<std::string> texts;
  const core::Rng random(17);
  for (Index copy = 0; copy < copies; ++copy)
    for (Index o = 0; o < originals; ++o) {
      std::string text;
      const Index edits = random.below(std::uint64_t(copy * originals + o), 4);
      for (Index i = 0; i < words; ++i) {
        bool edited = false;
        for (Index e = 0; e < edits && copy > 0; ++e)
          edited |=
              random.fold(std::uint64_t(copy * originals + o)).below(std::uint64_t(e), words) == i;
        text += (i ? " " : "") + (edited ? "edited" + std::to_string(copy) : word(100 + o, i));
      }
      texts.push_back(text);
    }
  return texts;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

/// Clusters by comparing every pair: the first of each for every document.
std::vector<Index> first_of_each(const std::vector<std::string>& texts, double threshold) {
  std::vector<std::vector<std::uint64_t>> sets;
  for (const std::string& text : texts) sets.push_back(word_shingles(normalised(text), 5));
  std::vector<Index> first(texts.size());
  std::iota(first.begin(), first.end(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < sets.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (first[i] != first[j] && jaccard(sets[i], sets[j]) >= threshold) {
          first[i] = first[j] = std::min(first[i], first[j]);
          moved = true;
        }
  }
  return first;
}

std::vector<Index> first_of_each(const NearDuplicates& found, std::size_t size) {
  std::vector<Index> first(size);
  std::iota(first.begin(), first.end(), 0);
  for (const Repeat& repeat : found.repeats) first[std::size_t(repeat.document)] = repeat.kept;
  return first;
}

TEST(NearDuplicates, are_those_that_comparing_every_pair_finds) {
  const auto texts = corpus(30, 6, 60);
  // At 0.7 pairs near the threshold are caught with 0.94, all the likelier through a third.
  const NearDuplicates found = find_near_duplicates(views(texts), {.threshold = 0.7});
  const auto expected = first_of_each(texts, 0.7), own = first_of_each(found, texts.size());
  Index missed = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(own[i] == expected[i] || own[i] == Index(i)) << i;
    missed += own[i] != expected[i];
  }
  EXPECT_LE(missed, 2);
  EXPECT_GT(found.repeats.size(), 60u);
}

TEST(NearDuplicates, say_because_of_what_and_how_alike) {
  const auto texts = corpus(10, 4, 60);
  for (const Repeat& repeat : find_near_duplicates(views(texts), {}).repeats) {
    const auto set = [&](Index i) { return word_shingles(normalised(texts[std::size_t(i)]), 5); };
    EXPECT_LT(repeat.kept, repeat.document);
    EXPECT_EQ(repeat.match_similarity, jaccard(set(repeat.document), set(repeat.match)));
    EXPECT_EQ(repeat.kept_similarity, jaccard(set(repeat.document), set(repeat.kept)));
    EXPECT_GE(repeat.match_similarity, 0.8);
  }
}

TEST(NearDuplicates, keep_the_first_of_each_whatever_the_order) {
  const auto texts = corpus(20, 4, 50);
  const auto sets_of = [](const std::vector<std::string>& own) {
    std::map<Index, std::set<std::string>> clusters;
    const auto first = first_of_each(find_near_duplicates(views(own), {}), own.size());
    for (std::size_t i = 0; i < own.size(); ++i) clusters[first[i]].insert(own[i]);
    std::set<std::set<std::string>> sets;
    for (const auto& [kept, cluster] : clusters) sets.insert(cluster);
    return sets;
  };
  std::vector<std::string> turned(texts.rbegin(), texts.rend());
  EXPECT_EQ(sets_of(texts), sets_of(turned));
  for (const Repeat& repeat : find_near_duplicates(views(turned), {}).repeats)
    EXPECT_LT(repeat.kept, repeat.document);
}

TEST(NearDuplicates, do_not_depend_on_the_number_of_threads) {
  const auto texts = corpus(40, 5, 40);
  const Index before = core::threads();
  core::set_threads(1);
  const NearDuplicates alone = find_near_duplicates(views(texts), {});
  core::set_threads(4);
  const NearDuplicates together = find_near_duplicates(views(texts), {});
  core::set_threads(before);
  EXPECT_EQ(alone.repeats, together.repeats);
}

TEST(NearDuplicates, short_documents_must_be_the_same) {
  const std::vector<std::string> texts = {"one two three", "One  two\tthree ", "one two four",
                                          "one two three four", "one two three"};
  const NearDuplicates found = find_near_duplicates(views(texts), {.threshold = 0.1});
  ASSERT_EQ(found.repeats.size(), 2u);
  EXPECT_EQ(found.repeats[0], (Repeat{.document = 1, .kept = 0, .match = 0}));
  EXPECT_EQ(found.repeats[1], (Repeat{.document = 4, .kept = 0, .match = 0}));
}

TEST(NearDuplicates, what_is_below_the_threshold_stays_though_bands_agree) {
  // Half of the words are shared: many candidates at bands for 0.3, none of them duplicates at 0.9.
  std::vector<std::string> texts;
  for (Index i = 0; i < 40; ++i)
    texts.push_back(document(1, 30) + " " + document(std::uint64_t(50 + i), 30));
  EXPECT_TRUE(find_near_duplicates(views(texts), {.threshold = 0.9}).repeats.empty());
  EXPECT_EQ(find_near_duplicates(views(texts), {.threshold = 0.25}).repeats.size(), 39u);
}

/// Each document is like the next, the first not like the last.
std::vector<std::string> chain(Index length) {
  std::vector<std::string> texts;
  for (Index k = 0; k < length; ++k) {
    std::string text;
    for (Index i = 0; i < 100; ++i) text += (i ? " " : "") + word(3, i + 5 * k);
    texts.push_back(text);
  }
  return texts;
}

TEST(NearDuplicates, a_chain_is_one_cluster_and_says_so) {
  const NearDuplicates found = find_near_duplicates(views(chain(10)), {});
  ASSERT_EQ(found.repeats.size(), 9u);
  EXPECT_EQ(found.repeats.back().kept, 0);
  EXPECT_GE(found.repeats.back().match_similarity, 0.8);
  EXPECT_LT(found.repeats.back().kept_similarity, 0.5);
}

TEST(NearDuplicates, a_cluster_that_is_too_large_is_refused_but_for_equal_texts) {
  std::vector<std::string> texts = chain(10);
  texts.push_back(texts[3]);
  const NearDuplicates found = find_near_duplicates(views(texts), {.largest = 9});
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_EQ(found.refused[0], (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  ASSERT_EQ(found.repeats.size(), 1u);
  EXPECT_EQ(found.repeats[0], (Repeat{.document = 10, .kept = 3, .match = 3}));
  EXPECT_TRUE(find_near_duplicates(views(texts), {.largest = 10}).refused.empty());
}

TEST(NearDuplicates, an_equal_text_follows_the_text_it_equals) {
  std::vector<std::string> texts = chain(3);
  texts.push_back(texts[1]);
  const NearDuplicates found = find_near_duplicates(views(texts), {});
  ASSERT_EQ(found.repeats.size(), 3u);
  EXPECT_EQ(found.repeats[2].document, 3);
  EXPECT_EQ(found.repeats[2].kept, 0);
  EXPECT_EQ(found.repeats[2].match, 1);
  EXPECT_EQ(found.repeats[2].kept_similarity, found.repeats[0].kept_similarity);
}

TEST(NearDuplicates, a_hundred_thousand_short_documents_are_no_trouble) {
  std::vector<std::string> texts;
  for (Index i = 0; i < 50000; ++i) texts.push_back(document(std::uint64_t(i), 8));
  for (Index i = 0; i < 50000; ++i) texts.push_back(texts[std::size_t(i)]);
  EXPECT_EQ(find_near_duplicates(views(texts), {}).repeats.size(), 50000u);
}

TEST(NearDuplicates, senseless_settings_are_refused) {
  for (const double threshold : {0.0, 1.1})
    expect_says(refusal_of([&] { find_near_duplicates({}, {.threshold = threshold}); }),
                core::Fault::usage, "threshold");
  expect_says(refusal_of([&] { find_near_duplicates({}, {.words = 0}); }), core::Fault::usage,
              "words");
  EXPECT_TRUE(find_near_duplicates({}, {}).repeats.empty());
}

}  // namespace
}  // namespace weft::data::near_duplicates_test
