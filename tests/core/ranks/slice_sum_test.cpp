#include "core/ranks/slice_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <mutex>

#include "core/counters.h"
#include "core/ranks/collectives.h"
#include "core/ranks/slice_gather.h"
#include "core/rng.h"
#include "tests/ranks_in_threads.h"

namespace weft::core::slice_sum_test {
namespace {

constexpr Index numbers = 3 * elementwise_grain + 123;

/// Terms of very different sizes: another order of additions gives other bits.
std::vector<Real> term_of(Index shard, Index size = numbers) {
  std::vector<Real> term(static_cast<std::size_t>(size));
  const Rng rng = Rng(5).fold(std::uint64_t(shard));
  fill_normal(term, rng, std::pow(10.0, double(shard % 5) - 2));
  return term;
}

/// The definition: the sum of n terms is that of the first m and that of the others.
std::vector<Real> recursive_sum(const std::vector<std::vector<Real>>& terms, std::size_t begin,
                                std::size_t end) {
  if (end - begin == 1) return terms[begin];
  std::size_t left = 1;
  while (2 * left < end - begin) left *= 2;
  std::vector<Real> sum = recursive_sum(terms, begin, begin + left);
  const std::vector<Real> right = recursive_sum(terms, begin + left, end);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

std::vector<std::vector<Real>> all_terms(Index shards) {
  std::vector<std::vector<Real>> terms;
  for (Index s = 0; s < shards; ++s) terms.push_back(term_of(s));
  return terms;
}

/// What each rank has after sums and gathering, which must be the same everywhere.
std::vector<Real> sum_over_ranks(Index ranks, const std::vector<std::vector<Real>>& terms,
                                 bool in_pieces, Index bucket = Slices::bucket_numbers) {
  std::mutex mutex;
  std::vector<std::vector<Real>> results;
  const Index shards = Index(terms.size());
  RanksInThreads::run(ranks, [&](Ranks& own) {
    const Stretch mine = shards_of(own.rank(), ranks, shards);
    const Slices slices(numbers, ranks, bucket);
    TreeSum sum(mine);
    std::vector<Real> values;
    for (Index s = mine.begin; s < mine.end; ++s) {
      values = terms[std::size_t(s)];
      if (!in_pieces || s + 1 < mine.end) sum.take(values);
    }
    SliceSum slice_sum(own, slices, shards);
    for (Index b = slices.buckets(); b-- > 0;) {
      if (in_pieces) sum.join_last(values, slices.bucket(b));
      slice_sum.begin(b, sum.parts(values));
    }
    slice_sum.finish(values);
    SliceGather gather(own, slices);
    gather.begin(values);
    gather.wait();
    const std::lock_guard lock(mutex);
    results.push_back(values);
  });
  for (const auto& result : results) EXPECT_EQ(result, results.front());
  return results.front();
}

bool same_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

TEST(SliceSum, gives_the_bits_of_the_recursive_sum_at_any_number_of_ranks) {
  for (Index shards = 1; shards <= 17; ++shards) {
    const auto terms = all_terms(shards);
    const std::vector<Real> expected = recursive_sum(terms, 0, terms.size());
    for (Index ranks = 1; ranks <= shards; ++ranks) {
      EXPECT_TRUE(same_bits(sum_over_ranks(ranks, terms, false), expected))
          << shards << " shards on " << ranks << " ranks";
      EXPECT_TRUE(same_bits(sum_over_ranks(ranks, terms, true, elementwise_grain), expected))
          << shards << " shards on " << ranks << " ranks, in pieces";
    }
  }
}

TEST(SliceSum, depends_on_the_order_of_shards) {
  auto terms = all_terms(8);
  const std::vector<Real> before = sum_over_ranks(2, terms, false);
  std::swap(terms[1], terms[2]);
  EXPECT_FALSE(same_bits(sum_over_ranks(2, terms, false), before));
}

TEST(SliceSum, sends_and_adds_what_its_closed_form_says) {
  for (const auto& [shards, ranks] : {std::pair<Index, Index>{8, 1}, {8, 2}, {8, 4}, {8, 8}}) {
    const auto terms = all_terms(shards);
    const Index sent = counters().sent_bytes, added = counters().added_terms;
    sum_over_ranks(ranks, terms, false);
    EXPECT_EQ(counters().added_terms - added, (shards - 1) * numbers);
    // Of all ranks together: every number is sent by all but its owner, and again to all but it.
    EXPECT_EQ(counters().sent_bytes - sent, 2 * (ranks - 1) * numbers * Index(sizeof(Real)));
  }
}

TEST(SliceSum, leaves_ranks_without_a_slice_where_the_array_is_small) {
  const Slices slices(elementwise_grain / 2, 5);
  Index owners = 0;
  for (Index r = 0; r < 5; ++r) owners += slices.count(r) > 0;
  EXPECT_EQ(owners, 1);
  RanksInThreads::run(5, [&](Ranks& own) {
    std::vector<Real> values = term_of(own.rank(), slices.size());
    TreeSum sum(shards_of(own.rank(), 5, 5));
    sum.take(values);
    SliceSum all(own, slices, 5);
    all.begin(0, sum.parts(values));
    all.finish(values);
    SliceGather gather(own, slices);
    gather.begin(values);
    gather.wait();
    std::vector<std::vector<Real>> terms;
    for (Index s = 0; s < 5; ++s) terms.push_back(term_of(s, slices.size()));
    EXPECT_TRUE(same_bits(values, recursive_sum(terms, 0, 5)));
  });
}

TEST(TreeSum, keeps_no_more_arrays_than_the_logarithm_of_its_shards) {
  for (Index shards = 1; shards <= 40; ++shards) {
    TreeSum sum({0, shards});
    std::vector<Real> values(8, 1);
    for (Index s = 0; s < shards; ++s) sum.take(values);
    EXPECT_LE(sum.arrays(), Index(std::bit_width(std::uint64_t(shards))) - 1) << shards;
  }
}

TEST(TreeSum, covers_the_shards_of_all_ranks_once_and_in_order) {
  for (Index shards = 1; shards <= 40; ++shards)
    for (Index ranks = 1; ranks <= shards; ++ranks) {
      Index next = 0;
      for (Index r = 0; r < ranks; ++r)
        for (const TreePart& part : parts_of(shards_of(r, ranks, shards))) {
          EXPECT_EQ(part.begin(), next);
          next = part.end();
        }
      EXPECT_EQ(next, shards);
    }
}

TEST(Collectives, give_all_ranks_the_same) {
  for (Index ranks = 1; ranks <= 7; ++ranks)
    RanksInThreads::run(ranks, [&](Ranks& own) {
      EXPECT_EQ(broadcast(own, own.is_first() ? "from the first" : "other"), "from the first");
      EXPECT_EQ(largest(own, 10 * own.rank() % 30), ranks <= 3 ? 10 * (ranks - 1) : 20);
      const std::vector<std::string> all = gather(own, std::string(std::size_t(own.rank()), 'x'));
      for (Index r = 0; r < ranks; ++r)
        EXPECT_EQ(all[std::size_t(r)], std::string(std::size_t(r), 'x'));
      const Stretch mine = shards_of(own.rank(), ranks, 7);
      TreeSum sum(mine);
      std::vector<Real> values;
      std::vector<std::vector<Real>> terms;
      for (Index s = 0; s < 7; ++s) terms.push_back(term_of(s, 9));
      for (Index s = mine.begin; s < mine.end; ++s) sum.take(values = terms[std::size_t(s)]);
      EXPECT_EQ(sum_everywhere(own, sum.parts(values), 7), recursive_sum(terms, 0, 7));
    });
}

TEST(Ranks, are_one_where_nothing_launched_more) {
  EXPECT_EQ(ranks().count(), 1);
  EXPECT_EQ(largest(ranks(), 7), 7);
}

}  // namespace
}  // namespace weft::core::slice_sum_test
