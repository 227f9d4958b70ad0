// Dense attention by tiles against the formula written out.
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/naive_dense.h"

namespace weft::layers::dense_contract_test {
namespace {

using tests::expect_close;
using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr double tolerance = in_double ? 1e-13 : 1e-5;

// Against the largest number of the array, as sums of many weights cancel.
void expect_near(const Tensor& actual, const std::vector<double>& expected, double allowed) {
  double largest = 1;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  ASSERT_EQ(actual.read().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual.read()[i], expected[i], allowed * largest) << "element " << i;
}

// Output and the gradients of q, k, v.
void expect_naive(const AttentionSample& it, double scale, double allowed) {
  const auto run = it.run();
  const NaiveDense naive{it.sequences(), it.heads(), it.head_width(), scale};
  const auto q = tests::in_double(it.inputs()[0].read()),
             k = tests::in_double(it.inputs()[1].read()),
             v = tests::in_double(it.inputs()[2].read());
  const auto expected = naive.backward(q, k, v, tests::in_double(it.upstream().read()));
  expect_near(run.out, naive.forward(q, k, v), allowed);
  expect_near(run.gradients[0], expected.q, allowed);
  expect_near(run.gradients[1], expected.k, allowed);
  expect_near(run.gradients[2], expected.v, allowed);
}

void expect_naive(const Sequences& s, Index heads, Index head_width) {
  SCOPED_TRACE(core::message_of(s.batch, " x ", heads, " heads of ", head_width, ", ", s.queries,
                                " queries, ", s.keys, " keys", s.causal ? ", causal" : ""));
  expect_naive(AttentionSample("dense", s, heads, head_width), 1 / std::sqrt(double(head_width)),
               tolerance);
}

bool all_zero(const Tensor& x) {
  return std::ranges::all_of(x.read(), [](Real v) { return v == 0; });
}

bool all_finite(const Tensor& x) {
  return std::ranges::all_of(x.read(), [](Real v) { return std::isfinite(v); });
}

TEST(Dense, is_the_naive_formula_at_any_length) {
  for (const Index length : {1, 2, 7, 127, 128, 129, 255, 256, 257, 300, 520})
    for (const bool causal : {true, false}) {
      expect_naive(Sequences::self(1, length, causal), 1, 8);
      expect_naive(Sequences::self(2, length, causal), 3, 5);
    }
}

TEST(Dense, is_the_naive_formula_at_any_head_width) {
  for (const Index head_width : {1, 2, 3, 16, 33, 64, 128})
    for (const Index heads : {1, 5}) expect_naive(Sequences::self(1, 140, true), heads, head_width);
}

TEST(Dense, reads_keys_of_another_length) {
  for (const auto& [queries, keys] :
       {std::pair{5, 11}, {1, 300}, {130, 300}, {128, 256}, {256, 512}})
    for (const bool causal : {true, false}) {
      expect_naive({2, queries, keys, causal}, 3, 4);
      expect_naive({1, queries, keys, causal}, 1, 4);
    }
  expect_naive({2, 300, 7, false}, 3, 4);
  expect_naive({1, 300, 7, false}, 1, 4);
}

TEST(Dense, leaves_padding_unread) {
  for (const Index heads : {1, 2})
    for (const bool causal : {true, false}) {
      expect_naive(padded(Sequences::self(3, 7, causal), {7, 3, 1}), heads, 4);
      expect_naive(padded(Sequences::self(3, 300, causal), {300, 129, 256}), heads, 4);
      expect_naive(padded({2, 130, 300, causal}, {257, 200}), heads, 4);
    }
  AttentionSample it("dense", padded(Sequences::self(1, 300, false), {140}), 2, 4);
  const auto before = it.run();
  for (const std::size_t side : {1, 2}) {
    std::span<Real> x = it.inputs()[side].write();
    std::ranges::fill(x.subspan(140 * 8), Real(1e6));
  }
  const auto after = it.run();
  EXPECT_TRUE(same_bits(before.out.read(), after.out.read()));
  for (const std::size_t side : {1, 2}) EXPECT_TRUE(all_zero(after.gradients[side].rows(140, 160)));
}

TEST(Dense, gives_zero_and_zero_gradients_where_a_query_reads_no_key) {
  for (const Index heads : {1, 4}) {
    // The first 200 queries stand before the first key.
    const Sequences late{1, 300, 100, true};
    expect_naive(late, heads, 4);
    const auto run = AttentionSample("dense", late, heads, 4).run();
    EXPECT_TRUE(all_zero(run.out.rows(0, 200)));
    EXPECT_FALSE(all_zero(run.out.rows(200, 1)));
    EXPECT_TRUE(all_zero(run.gradients[0].rows(0, 200)));
    for (const bool causal : {true, false}) {
      const Sequences half = padded(Sequences::self(2, 130, causal), {0, 130});
      expect_naive(half, heads, 4);
      const auto none = AttentionSample("dense", half, heads, 4).run();
      EXPECT_TRUE(all_zero(none.out.rows(0, 130)));
      for (const std::size_t i : {0, 1, 2}) EXPECT_TRUE(all_zero(none.gradients[i].rows(0, 130)));
    }
  }
}

// Scores of exactly -10000, 0 and 10000, which float holds.
TEST(Dense, is_stable_under_scores_of_ten_thousand) {
  for (const Index heads : {1, 4})
    for (const bool causal : {true, false}) {
      AttentionSample it("dense", Sequences::self(1, 300, causal), heads, 4);
      for (const std::size_t side : {0, 1}) {
        const core::Rng rng(50 + side);
        std::span<Real> x = it.inputs()[side].write();
        for (std::size_t j = 0; j < x.size(); ++j)
          x[j] = j % 4 == 0 ? (side == 0 ? 200 : 100) * Real(rng.below(j, 3) - 1) : 0;
      }
      const auto run = it.run();
      EXPECT_TRUE(all_finite(run.out));
      for (const Tensor& gradient : run.gradients) EXPECT_TRUE(all_finite(gradient));
      expect_naive(it, 0.5, in_double ? 1e-9 : 1e-3);
      if (causal) expect_near(it.decode(0), tests::in_double(run.out.read()), tolerance);
    }
}

TEST(Dense, gives_no_weight_to_a_score_of_minus_infinity) {
  const Real huge = std::sqrt(std::numeric_limits<Real>::max()) * 4;
  for (const Index heads : {1, 4}) {
    AttentionSample it("dense", Sequences::self(1, 300, false), heads, 4);
    it.inputs()[0] = Tensor(it.inputs()[0].shape(), huge);
    it.inputs()[1] = Tensor(it.inputs()[1].shape(), 0);
    std::ranges::fill(it.inputs()[1].write().subspan(std::size_t(10 * it.width())), -huge);
    const auto run = it.run();
    for (Index h = 0; h < heads; ++h) {
      double mean = 0;  // of the ten keys that have a finite score
      for (Index j = 0; j < 10; ++j)
        mean += it.inputs()[2].rows(j, 1).read()[std::size_t(4 * h)] / 10;
      EXPECT_NEAR(run.out.rows(299, 1).read()[std::size_t(4 * h)], mean, 10 * tolerance);
    }
    EXPECT_TRUE(all_finite(run.out));
    for (const std::size_t i : {1, 2}) EXPECT_TRUE(all_zero(run.gradients[i].rows(10, 290)));
  }
}

// Fewer than four heads together are swept twice, once by queries and once by keys.
TEST(Dense, sweeps_once_or_twice_with_the_same_gradients) {
  for (const bool causal : {true, false})
    for (const Index length : {7, 129, 300}) {
      const Index rows = length;
      AttentionSample one("dense", Sequences::self(1, length, causal), 1, 8);
      AttentionSample four("dense", Sequences::self(4, length, causal), 1, 8);
      for (std::size_t i = 0; i < one.inputs().size(); ++i)
        one.inputs()[i] = four.inputs()[i].rows(0, rows);
      const auto twice = one.run(), once = four.run();
      EXPECT_TRUE(same_bits(twice.out.read(), once.out.rows(0, rows).read()));
      for (const std::size_t i : {0, 1, 2})
        expect_close(twice.gradients[i].read(),
                     tests::in_double(once.gradients[i].rows(0, rows).read()), tolerance);
    }
}

TEST(Dense, reads_heads_out_of_one_packed_matrix) {
  const AttentionSample it("dense", Sequences::self(2, 130, true), 3, 4);
  const Index width = it.width(), columns = 4 * width;  // one block belongs to nobody
  Tensor packed = tests::random_tensor({260, columns}, 60);
  for (std::size_t i = 0; i < 3; ++i)
    for (Index r = 0; r < 260; ++r)
      std::ranges::copy(it.inputs()[i].rows(r, 1).read(),
                        packed.write().begin() + r * columns + Index(3 - i) * width);
  autograd::Tape tape;
  const Var leaf = tape.watch(packed);
  const Var out = it.attention().forward(
      Pass(), {{{leaf, 3 * width}, {leaf, 2 * width}, {leaf, width}}, {}, it.sequences()});
  tape.sweep(out, it.upstream());
  const auto apart = it.run();
  EXPECT_TRUE(same_bits(out.value().read(), apart.out.read()));
  const Tensor gradient = tape.gradient(leaf);
  for (Index r = 0; r < 260; ++r) {
    const auto row = gradient.rows(r, 1).read();
    const auto n = std::size_t(width);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(same_bits(row.subspan((3 - i) * n, n), apart.gradients[i].rows(r, 1).read()));
    for (const Real untouched : row.first(n)) EXPECT_EQ(untouched, 0);
  }
}

TEST(Dense, takes_a_scale_of_its_own) {
  const Sequences s = Sequences::self(2, 9, true);
  expect_naive(AttentionSample("dense", s, 2, 4, {{"scale", 0.3}}), 0.3, tolerance);
}

TEST(Dense, refuses_matrices_that_do_not_fit_the_sequences) {
  const AttentionSample it("dense", Sequences::self(2, 9, true), 2, 4);
  const auto forward = [&](const std::vector<Tensor>& blocks, Index first, const Sequences& s) {
    AttentionInput input{{}, {}, s};
    for (const Tensor& block : blocks) input.blocks.push_back({Var(block), first});
    return it.attention().forward(Pass(), input);
  };
  const Tensor fits({18, 8}, 0), longer({20, 8}, 0);
  const Sequences s = it.sequences();
  EXPECT_NO_THROW(forward({fits, fits, fits}, 0, s));
  EXPECT_THROW(forward({longer, fits, fits}, 0, s), core::Error);
  EXPECT_THROW(forward({fits, longer, fits}, 0, s), core::Error);
  EXPECT_THROW(forward({fits, fits, longer}, 0, s), core::Error);
  EXPECT_THROW(forward({fits, fits}, 0, s), core::Error);
  EXPECT_THROW(forward({fits, fits, fits}, 1, s), core::Error);
  EXPECT_THROW(forward({fits, fits, fits}, 0, padded(s, {9})), core::Error);
  EXPECT_THROW(forward({fits, fits, fits}, 0, padded(s, {9, 10})), core::Error);
  EXPECT_THROW(forward({fits, fits, fits}, 0, padded(s, {-1, 9})), core::Error);
}

}  // namespace
}  // namespace weft::layers::dense_contract_test
