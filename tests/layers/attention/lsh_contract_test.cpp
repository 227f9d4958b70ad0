// What hashed attention computes, item by item; buckets are supplied where a test fixes them.
#include <numeric>

#include "tests/closeness.h"
#include "tests/layers/attention/naive_lsh.h"

namespace weft::layers::lsh_contract_test {
namespace {

using tests::same_bits;
using Ids = std::vector<std::uint16_t>;

constexpr double close = sizeof(Real) == sizeof(double) ? 1e-12 : 1e-5;
constexpr Index heads = 2, width = 4;

tests::Settings settings(Index rounds, Index buckets, Index chunk, tests::Settings more = {}) {
  more.insert({{"rounds", rounds}, {"buckets", buckets}, {"chunk", chunk}});
  return more;
}

// A training pass with given buckets, [B, H, rounds, T].
Tensor run(const AttentionSample& it, const Ids& ids) {
  autograd::Tape unused;
  autograd::Journal journal;
  const Pass pass(unused, core::Rng(3), journal);
  journal.store(pass.stream().fold("buckets").key(), std::make_shared<const Ids>(ids));
  return it.forward(pass, {it.inputs().begin(), it.inputs().end()}).value();
}

Ids drawn_ids(Index count, Index buckets) {
  Ids ids;
  for (Index i = 0; i < count; ++i)
    ids.push_back(std::uint16_t(core::Rng(8).below(std::uint64_t(i), buckets)));
  return ids;
}

void expect_same(const Tensor& x, const Tensor& y) {
  tests::expect_close(x.read(), tests::in_double(y.read()), close);
}

TEST(Lsh, strict_with_one_bucket_and_one_chunk_is_dense_attention_with_shared_keys) {
  for (const Index length : {1, 33, 150}) {
    const Sequences s = Sequences::self(2, length, true);
    const AttentionSample it("lsh", s, heads, width, settings(1, 2, 200));
    const NaiveListed naive{s, heads, width, 1, [](Index, Index i) {
                              std::vector<Index> keys(static_cast<std::size_t>(i));
                              std::iota(keys.begin(), keys.end(), Index(0));
                              return keys;
                            }};
    const auto q = tests::in_double(it.inputs()[0].read());
    tests::expect_close(run(it, Ids(std::size_t(2 * heads * length), 1)).read(),
                        naive.forward(q, naive_unit(q, width, 1e-6 * double(width)),
                                      tests::in_double(it.inputs()[1].read())),
                        close);
  }
}

TEST(Lsh, dedup_is_a_softmax_over_the_union_of_all_rounds) {
  const Index length = 90, rounds = 4;
  for (const std::string mode : {"strict", "paper"}) {
    const Sequences s = Sequences::self(1, length, true);
    const AttentionSample it("lsh", s, 1, width,
                             settings(rounds, 4, 200, {{"mode", mode}, {"dedup", true}}));
    const Ids ids = drawn_ids(rounds * length, 4);
    // With chunks this long a pair is scored wherever buckets agree; in paper mode always.
    const NaiveListed naive{s,
                            1,
                            width,
                            1,
                            [&](Index, Index i) {
                              std::vector<Index> keys;
                              for (Index r = 0; r < rounds; ++r)
                                for (Index j = 0; j < i; ++j)
                                  if (mode == "paper" || ids[std::size_t(r * length + i)] ==
                                                             ids[std::size_t(r * length + j)])
                                    keys.push_back(j);
                              return keys;
                            },
                            true};
    const auto q = tests::in_double(it.inputs()[0].read());
    const double eps = mode == "paper" ? 0 : 1e-6 * double(width);
    tests::expect_close(
        run(it, ids).read(),
        naive.forward(q, naive_unit(q, width, eps), tests::in_double(it.inputs()[1].read())),
        close);
  }
}

TEST(Lsh, identical_rounds_are_one_round) {
  const Index length = 130;
  const Sequences s = Sequences::self(1, length, true);
  const Ids one = drawn_ids(length, 6);
  for (const bool dedup : {false, true}) {
    Ids three;
    for (int r = 0; r < 3; ++r) three.insert(three.end(), one.begin(), one.end());
    const AttentionSample single("lsh", s, 1, width, settings(1, 6, 8));
    const AttentionSample triple("lsh", s, 1, width, settings(3, 6, 8, {{"dedup", dedup}}));
    expect_same(run(triple, three), run(single, one));
  }
}

TEST(Lsh, permuting_bucket_ids_changes_nothing_in_strict_mode_and_something_in_paper_mode) {
  const Index length = 130;
  const Ids ids = drawn_ids(2 * length, 6);
  Ids permuted;
  for (const std::uint16_t id : ids) permuted.push_back(std::uint16_t((id + 2) * 5 % 6));
  for (const std::string mode : {"strict", "paper"}) {
    const AttentionSample it("lsh", Sequences::self(1, length, true), 1, width,
                             settings(2, 6, 8, {{"mode", mode}}));
    EXPECT_EQ(same_bits(run(it, ids).read(), run(it, permuted).read()), mode == "strict");
  }
}

TEST(Lsh, the_first_token_gives_its_own_value) {
  for (const std::string mode : {"strict", "paper"}) {
    const AttentionSample it("lsh", Sequences::self(2, 50, true), heads, width,
                             settings(4, 4, 8, {{"mode", mode}}));
    const Tensor out = it.evaluate();
    for (const Index b : {0, 1})
      EXPECT_TRUE(same_bits(out.rows(b * 50, 1).read(), it.inputs()[1].rows(b * 50, 1).read()));
  }
}

TEST(Lsh, scaling_all_queries_keeps_their_buckets) {
  for (const Index buckets : {8, 128, 200}) {
    const AngularHash hash = AngularHash::of(16, 3, buckets);
    const Tensor directions = hash.draw(core::Rng(1), heads);
    const Tensor x = tests::random_tensor({60, heads * 16}, 2);
    const auto of = [&](Real factor) {
      Tensor y = x;
      for (Real& v : y.write()) v *= factor;
      return hash_tokens(hash, directions, {y.data(), heads * 16}, 2, heads, 30);
    };
    EXPECT_EQ(of(1), of(4));
    EXPECT_EQ(of(1), of(Real(0.125)));
  }
}

TEST(Lsh, strict_mode_leaks_nothing_where_paper_mode_does) {
  const Index length = 256;
  for (const std::string mode : {"strict", "paper"}) {
    Index changed = 0;
    const auto sample = [&] {
      return AttentionSample("lsh", Sequences::self(1, length, true), heads, width,
                             settings(2, 8, 16, {{"mode", mode}}));
    };
    const Tensor before = sample().evaluate();
    for (Index trial = 0; trial < 20; ++trial) {
      AttentionSample it = sample();
      for (Tensor& x : it.inputs()) {
        const Tensor other = tests::random_tensor({1, x.shape()[1]}, 70 + std::uint64_t(trial));
        std::ranges::copy(other.read(), x.write().end() - x.shape()[1]);
      }
      const Tensor after = it.evaluate();
      for (Index t = 0; t + 1 < length; ++t)
        changed += !same_bits(before.rows(t, 1).read(), after.rows(t, 1).read());
    }
    EXPECT_EQ(changed > 0, mode == "paper") << changed << " earlier outputs changed";
    EXPECT_EQ(sample().traits().leaks, mode == "paper");
  }
}

TEST(Lsh, evaluation_takes_more_rounds_than_training_and_comes_nearer_to_the_whole) {
  const Index length = 256;
  const Sequences s = Sequences::self(1, length, true);
  const auto out_with = [&](Index rounds, Index buckets) {
    return AttentionSample("lsh", s, heads, 16, settings(rounds, buckets, 256, {{"dedup", true}}))
        .evaluate();
  };
  const NaiveListed whole{s, heads, 16, 1, [](Index, Index i) {
                            std::vector<Index> keys(static_cast<std::size_t>(i));
                            std::iota(keys.begin(), keys.end(), Index(0));
                            return keys;
                          }};
  const AttentionSample it("lsh", s, heads, 16);
  const auto q = tests::in_double(it.inputs()[0].read());
  const auto exact =
      whole.forward(q, naive_unit(q, 16, 16e-6), tests::in_double(it.inputs()[1].read()));
  const auto error = [&](Index rounds) {
    const Tensor out = out_with(rounds, 16);
    double total = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      total += std::pow(double(out.read()[i]) - exact[i], 2);
    return total;
  };
  EXPECT_LT(error(4), 0.7 * error(1));
  EXPECT_LT(error(16), 0.7 * error(4));
}

TEST(Lsh, hashing_is_factorised_above_128_buckets) {
  EXPECT_EQ(AngularHash::of(8, 1, 128).directions(), 64);
  const AngularHash hash = AngularHash::of(32, 1, 512);
  EXPECT_EQ(hash.first, 32);
  EXPECT_EQ(hash.second, 16);
  EXPECT_EQ(hash.directions(), 24);
  const Tensor x = tests::random_tensor({2000, 32}, 1);
  const auto ids = hash_tokens(hash, hash.draw(core::Rng(1), 1), {x.data(), 32}, 1, 1, 2000);
  std::vector<Index> counts(512, 0);
  for (const std::uint16_t id : ids) ++counts.at(id);
  EXPECT_GT(std::ranges::count_if(counts, [](Index c) { return c > 0; }), 300);
}

TEST(Lsh, a_decoded_token_scores_at_most_rounds_times_two_chunks) {
  const Index rounds = 3, chunk = 8, length = 400;
  const AttentionSample it("lsh", Sequences::self(1, length, true), 1, width,
                           settings(rounds, 4, chunk));
  const Index most = it.most_pairs_of_a_decoded_token();
  EXPECT_LE(most, rounds * 2 * chunk);
  EXPECT_GT(most, rounds * chunk);
}

TEST(Lsh, settings_that_mean_nothing_together_are_problems) {
  const auto problems = [](const tests::Settings& given) {
    tests::GivenFields fields(given);
    find_attention("lsh")->configure(fields, {.width = 8, .heads = 2, .head_width = 4});
    return fields.problems();
  };
  EXPECT_TRUE(problems({}).empty());
  EXPECT_TRUE(problems({{"buckets", Index(7)}}).contains("buckets"));
  EXPECT_TRUE(problems({{"wrap", true}}).contains("wrap"));
  EXPECT_TRUE(problems({{"wrap", true}, {"mode", "paper"}}).empty());
  EXPECT_TRUE(problems({{"same_bucket", true}}).contains("same_bucket"));
}

}  // namespace
}  // namespace weft::layers::lsh_contract_test
