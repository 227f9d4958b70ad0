// What patterns score, by the closed forms, and what their decoders keep.
#include "core/memory.h"
#include "layers/attention/pattern/decoding.h"
#include "layers/attention/pattern/plan.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::pattern_plan_test {
namespace {

Index pairs(const Pattern& pattern, Index length, bool causal) {
  return plan_pattern(pattern, length, length, causal).pairs;
}

TEST(PatternPlan, a_band_scores_the_closed_form) {
  for (const Index n : {64, 100, 1000})
    for (const Index w : {0, 1, 7, 63}) {
      EXPECT_EQ(pairs(band_pattern(w, w), n, false), n * (2 * w + 1) - w * (w + 1));
      EXPECT_EQ(pairs(band_pattern(w, w), n, true), n * (w + 1) - w * (w + 1) / 2);
      EXPECT_EQ(pairs(band_pattern(w, 0), n, true), n * (w + 1) - w * (w + 1) / 2);
    }
}

TEST(PatternPlan, blocks_score_the_closed_form) {
  for (const Index c : {1, 8, 64}) EXPECT_EQ(pairs(block_local_pattern(c), 512, false), 512 * c);
}

TEST(PatternPlan, everything_scores_the_square_or_its_lower_half) {
  EXPECT_EQ(pairs(full_pattern(), 300, false), 300 * 300);
  EXPECT_EQ(pairs(full_pattern(), 300, true), 300 * 301 / 2);
}

TEST(PatternPlan, bigbird_reads_the_published_number_of_tiles) {
  // N blocks: two global rows of N, four rows beside them of 4 + r, others of 5 + r.
  const AttentionSample it("bigbird", Sequences::self(1, 4096, false), 1, 4);
  const Index N = 64, r = 3;
  EXPECT_EQ(2 * N + (N - 4) * (5 + r) + 2 * (4 + r), 622);
  EXPECT_EQ(it.attention().cost(it.sequences()).scored_pairs, 622 * 64 * 64);
}

TEST(PatternPlan, strided_and_fixed_stay_within_their_bounds) {
  const Index n = 1024, l = 32, c = 4;
  EXPECT_LE(pairs(strided_pattern(l), n, true), n * (l + n / l));
  EXPECT_LE(pairs(fixed_pattern(l, c), n, true), n * (l + c * n / l));
  EXPECT_EQ(pairs(strided_pattern(n), n, true), n * (n + 1) / 2) << "a stride of all is dense";
  EXPECT_EQ(pairs(fixed_pattern(l, l), n, true), n * (n + 1) / 2) << "all columns are dense";
}

TEST(PatternPlan, counts_a_pair_once_however_many_atoms_name_it) {
  const Pattern band = band_pattern(9, 4), far = dilated_pattern(20, 3, 4),
                wide = dilated_pattern(8, 8, 6),
                tokens = global_pattern({3, 4, 90}, GlobalMode::both);
  const Pattern one = united(united(band, far), united(wide, tokens));
  const Pattern other = united(united(tokens, wide), united(united(far, band), band));
  Index expected = 0;
  for (Index i = 0; i < 150; ++i)
    for (Index j = 0; j < 150; ++j) {
      const bool read =
          std::ranges::any_of(one, [&](const auto& atom) { return atom->reads(i, j, 150); });
      expected += read;
    }
  EXPECT_EQ(pairs(one, 150, false), expected);
  EXPECT_EQ(pairs(other, 150, false), expected);
}

TEST(PatternPlan, grows_with_the_pairs_and_no_faster) {
  const auto size = [](const Pattern& pattern, Index n) {
    const PatternPlan plan = plan_pattern(pattern, n, n, true);
    EXPECT_LE(plan.area, 2 * plan.pairs);
    return double(plan.ranges.size() + plan.panels.size() + plan.gathered.size());
  };
  for (const Pattern& pattern :
       {band_pattern(255, 0),
        united(band_pattern(127, 0), global_pattern({0, 77}, GlobalMode::both)),
        dilated_pattern(63, 0, 8)})
    EXPECT_LT(size(pattern, 16384), 2.2 * size(pattern, 8192));
}

Index live_after(const Pattern& pattern, Index tokens) {
  KeyStore store(pattern, 1);
  const Real number[] = {0};
  for (Index t = 0; t < tokens; ++t) {
    store.append(t, number, number);
    store.forget(t);
  }
  return store.live();
}

TEST(KeyStore, holds_only_what_a_later_query_reads) {
  // After token t a band of L + 1 keys needs the last L.
  EXPECT_EQ(live_after(band_pattern(9, 0), 500), 9);
  EXPECT_EQ(live_after(dilated_pattern(9, 0, 4), 500), 36);
  EXPECT_EQ(live_after(block_local_pattern(16), 500), 500 % 16);
  EXPECT_EQ(live_after(block_local_pattern(16, 1), 500), 500 % 16 + 16);
  EXPECT_EQ(live_after(full_pattern(), 500), 500);
  EXPECT_EQ(live_after(fixed_pattern(16, 3), 500), 500 % 16 + 3 * (500 / 16));
  EXPECT_EQ(
      live_after(united(band_pattern(9, 0), global_pattern({0, 7}, GlobalMode::columns)), 500),
      9 + 2);
  EXPECT_EQ(live_after(united(band_pattern(9, 0), global_pattern({300}, GlobalMode::both)), 300),
            300);
  EXPECT_EQ(live_after(united(band_pattern(9, 0), global_pattern({300}, GlobalMode::both)), 500),
            9 + 1);
  std::vector<std::vector<Index>> listed(8);
  listed[5] = {1};
  EXPECT_EQ(live_after(blocks_pattern(10, listed), 55), 10) << "until the last reader";
  EXPECT_EQ(live_after(blocks_pattern(10, listed), 60), 0);
}

TEST(PatternMemory, no_buffer_comes_near_the_square_of_the_length) {
  constexpr Index length = 16384;
  for (const std::string kind : {"local", "dense", "longformer", "bigbird", "strided"}) {
    const AttentionSample it(kind, Sequences::self(1, length, true), 1, 64);
    it.attention().cost(it.sequences());
    core::reset_memory_peak();
    it.run();
    EXPECT_LT(core::memory_use().largest, length * length / 8) << kind;
    EXPECT_LE(core::memory_use().largest, length * 64 * Index(sizeof(Real))) << kind;
  }
}

}  // namespace
}  // namespace weft::layers::pattern_plan_test
