#include "core/error.h"
#include "layers/parts/rotary.h"
#include "tests/closeness.h"
#include "tests/layers/model/naive_model.h"
#include "tests/random_values.h"

namespace weft::layers::rotary_contract_test {
namespace {

using tests::epsilon;
using tests::random_tensor;
using tests::same_bits;

TEST(Rotary, is_a_turn_of_complex_numbers) {
  for (const Index head_width : {2, 6, 64})
    for (const Index length : {1, 7, 300}) {
      const Rotary rotary(head_width, 5);  // grows with the length
      const Tensor x = random_tensor({2 * length, 3 * head_width}, 1);
      const Tensor y = rotary.turn(Var(x), {0}, 3, length).value();
      // In float the angle itself is exact; only sin and cos are rounded.
      tests::expect_close(y.read(), naive_turned(Grid(x), head_width, length).numbers, 8 * epsilon);
    }
}

TEST(Rotary, turns_the_named_columns_only) {
  const Rotary rotary(4, 16);
  const Tensor x = random_tensor({16, 3 * 8}, 1);
  const Tensor y = rotary.turn(Var(x), {0, 16}, 2, 16).value();
  for (Index r = 1; r < 16; ++r) {
    const auto before = x.rows(r, 1).read(), after = y.rows(r, 1).read();
    EXPECT_TRUE(same_bits(before.subspan(8, 8), after.subspan(8, 8)));
    EXPECT_FALSE(same_bits(before.first(8), after.first(8)));
    EXPECT_FALSE(same_bits(before.last(8), after.last(8)));
  }
  EXPECT_TRUE(same_bits(x.rows(0, 1).read(), y.rows(0, 1).read())) << "position 0 does not turn";
}

double product(const Tensor& x, Index i, const Tensor& y, Index j) {
  double total = 0;
  for (Index c = 0; c < x.shape().back(); ++c)
    total += double(x.rows(i, 1).read()[std::size_t(c)]) * y.rows(j, 1).read()[std::size_t(c)];
  return total;
}

TEST(Rotary, keeps_lengths) {
  const Tensor x = random_tensor({50, 16}, 1);
  const Tensor y = Rotary(16, 50).turn(Var(x), {0}, 1, 50).value();
  for (Index r = 0; r < 50; ++r)
    EXPECT_NEAR(product(y, r, y, r), product(x, r, x, r), 50 * epsilon * product(x, r, x, r));
}

TEST(Rotary, makes_scores_depend_on_the_distance_only) {
  // The same query and the same key at every position.
  Tensor q({60, 16}), k({60, 16});
  const Tensor one = random_tensor({2, 16}, 1);
  for (Index r = 0; r < 60; ++r) {
    std::ranges::copy(one.rows(0, 1).read(), q.write().begin() + r * 16);
    std::ranges::copy(one.rows(1, 1).read(), k.write().begin() + r * 16);
  }
  const Rotary rotary(16, 60);
  const Tensor turned_q = rotary.turn(Var(q), {0}, 1, 60).value();
  const Tensor turned_k = rotary.turn(Var(k), {0}, 1, 60).value();
  for (const Index distance : {0, 1, 17}) {
    const double score = product(turned_q, distance, turned_k, 0);
    for (Index r = distance; r < 60; ++r)
      EXPECT_NEAR(product(turned_q, r, turned_k, r - distance), score, 100 * epsilon);
  }
  EXPECT_GT(std::abs(product(turned_q, 17, turned_k, 0) - product(turned_q, 1, turned_k, 0)), 1e-3);
}

TEST(Rotary, turns_one_row_as_it_turns_all) {
  const Tensor x = random_tensor({40, 24}, 1);
  const Tensor y = Rotary(8, 40).turn(Var(x), {0}, 3, 40).value();
  const Rotary fresh(8, 1);
  for (Index r = 39; r >= 0; --r) {
    std::vector<Real> row(x.rows(r, 1).read().begin(), x.rows(r, 1).read().end());
    fresh.turn_row(row, r);
    EXPECT_TRUE(same_bits(row, y.rows(r, 1).read())) << "position " << r;
  }
}

TEST(Rotary, refuses_an_odd_head_width) { EXPECT_THROW(Rotary(7, 10), core::Error); }

}  // namespace
}  // namespace weft::layers::rotary_contract_test
