#include "layers/attention/clusters/k_means.h"

#include <algorithm>
#include <cmath>

#include "tests/random_values.h"

namespace weft::layers::k_means_test {
namespace {

// Tight blobs far apart, ten rows each.
Tensor blobs(Index count, std::uint64_t seed) {
  Tensor x = tests::random_tensor({10 * count, 3}, seed, 0.05);
  for (Index i = 0; i < 10 * count; ++i) {
    Real* row = x.write().data() + 3 * i;
    row[0] += Real(i / 10 % 3) * 10;
    row[1] += Real(i / 30) * 10;
  }
  return x;
}

std::vector<Index> per_blob(const Tensor& centres, Index count) {
  std::vector<Index> hits(std::size_t(count), 0);
  for (Index c = 0; c < centres.shape()[0]; ++c) {
    const Real* row = centres.data() + 3 * c;
    ++hits.at(std::size_t(std::lround(row[0] / 10) + 3 * std::lround(row[1] / 10)));
  }
  return hits;
}

TEST(KMeans, the_objective_never_rises) {
  const Tensor x = tests::random_tensor({300, 5}, 1);
  const Tensor start = sampled_rows(core::Rng(2), x, 12);
  double before = 1e300;
  for (Index rounds = 0; rounds < 15; ++rounds) {
    const Clustering it = cluster(x, start, rounds);
    EXPECT_LE(it.objective, before * (1 + 1e-6)) << "after round " << rounds;
    before = it.objective;
  }
}

TEST(KMeans, stops_when_no_label_moves) {
  const Tensor x = blobs(6, 1);
  const Clustering it = cluster(x, spread_rows(core::Rng(1), x, 6));
  EXPECT_LT(it.rounds, 100);
  EXPECT_EQ(per_blob(it.centres, 6), std::vector<Index>(6, 1));
  for (Index i = 0; i < 60; ++i)
    EXPECT_EQ(it.labels[std::size_t(i)], it.labels[std::size_t(i / 10 * 10)]);
}

TEST(KMeans, an_empty_cluster_moves_to_the_farthest_row) {
  const Tensor x = blobs(3, 1);
  Tensor start({3, 3}, 1000);  // the last two stand where no row is nearest
  std::fill_n(start.write().begin(), 3, Real(0));
  const Clustering it = cluster(x, start);
  EXPECT_EQ(per_blob(it.centres, 3), std::vector<Index>(3, 1));
}

TEST(KMeans, centres_keep_a_given_length) {
  const Clustering it =
      cluster(tests::random_tensor({100, 4}, 1), tests::random_tensor({5, 4}, 2), 10, 2);
  for (Index c = 0; c < 5; ++c) {
    double squares = 0;
    for (Index d = 0; d < 4; ++d) squares += std::pow(it.centres.read()[std::size_t(4 * c + d)], 2);
    EXPECT_NEAR(squares, 4, 1e-4);
  }
}

TEST(KMeansPlusPlus, puts_one_centre_into_each_of_separate_blobs) {
  Index right = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    right +=
        per_blob(spread_rows(core::Rng(seed), blobs(9, seed), 9), 9) == std::vector<Index>(9, 1);
  EXPECT_GT(right, 190);
}

TEST(KMeans, samples_rows_without_repetition) {
  Tensor x({20, 1});
  for (Index i = 0; i < 20; ++i) x.write()[std::size_t(i)] = Real(i);
  const Tensor chosen = sampled_rows(core::Rng(3), x, 20);
  std::vector<Real> all(chosen.read().begin(), chosen.read().end());
  std::ranges::sort(all);
  EXPECT_TRUE(std::ranges::equal(all, x.read()));
}

}  // namespace
}  // namespace weft::layers::k_means_test
