#include "core/arrays/tensor.h"

#include <array>

#include "core/counters.h"
#include "core/error.h"
#include "core/memory.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::core::tensor_test {
namespace {

using tests::random_tensor;

TEST(Tensor, copies_share_storage_until_one_is_written) {
  Tensor x({2, 3}, 1);
  Tensor y = x;
  EXPECT_EQ(y.data(), x.data());
  EXPECT_FALSE(x.is_sole_owner());
  const Index before = counters().detaches;
  y.write()[0] = 5;
  EXPECT_EQ(counters().detaches, before + 1);
  EXPECT_NE(y.data(), x.data());
  EXPECT_EQ(x.read()[0], 1);
  EXPECT_EQ(y.read()[0], 5);
  EXPECT_EQ(y.read()[5], 1);
}

TEST(Tensor, sole_owner_writes_in_place) {
  Tensor x({4}, 2);
  const Real* data = x.data();
  const Index before = counters().detaches;
  x.write()[1] = 3;
  EXPECT_EQ(x.data(), data);
  EXPECT_EQ(counters().detaches, before);
}

TEST(Tensor, owns_alone_again_when_the_other_copy_is_gone) {
  Tensor x({4}, 2);
  { const Tensor y = x; }
  EXPECT_TRUE(x.is_sole_owner());
}

TEST(Tensor, never_writes_what_was_lent_to_it) {
  std::array<Real, 6> lender{1, 2, 3, 4, 5, 6};
  Tensor lent = Tensor::lend({2, 3}, lender.data());
  EXPECT_EQ(lent.data(), lender.data());
  EXPECT_FALSE(lent.is_sole_owner());
  lender[1] = 20;
  EXPECT_EQ(lent.read()[1], 20);
  lent.write()[0] = -1;
  EXPECT_EQ(lender[0], 1);
  EXPECT_EQ(lent.read()[0], -1);
  EXPECT_EQ(lent.read()[1], 20);
  EXPECT_TRUE(lent.is_sole_owner());
}

TEST(Tensor, views_of_lent_memory_do_not_write_it_either) {
  std::array<Real, 6> lender{1, 2, 3, 4, 5, 6};
  const Tensor lent = Tensor::lend({3, 2}, lender.data());
  Tensor row = lent.rows(1, 1), flat = lent.reshaped({6});
  EXPECT_EQ(row.data(), lender.data() + 2);
  row.write()[0] = -1;
  flat.write()[5] = -1;
  EXPECT_EQ(lender, (std::array<Real, 6>{1, 2, 3, 4, 5, 6}));
}

TEST(Tensor, reshape_shares_elements) {
  const Tensor x = random_tensor({4, 6}, 1);
  const Tensor y = x.reshaped({2, 2, 6});
  EXPECT_EQ(y.data(), x.data());
  EXPECT_EQ(y.shape(), (Shape{2, 2, 6}));
  EXPECT_THROW(x.reshaped({5, 5}), Error);
}

TEST(Tensor, rows_share_elements_and_detach_alone) {
  Tensor x = random_tensor({5, 2, 3}, 1);
  const Tensor whole = x;
  Tensor middle = x.rows(1, 3);
  EXPECT_EQ(middle.shape(), (Shape{3, 2, 3}));
  EXPECT_EQ(middle.data(), x.data() + 6);
  middle.write()[0] = 100;
  EXPECT_TRUE(middle.is_sole_owner());
  EXPECT_NE(x.read()[6], 100);
  EXPECT_TRUE(tests::same_bits(whole.read(), x.read()));
  EXPECT_EQ(x.rows(5, 0).size(), 0);
  EXPECT_THROW(x.rows(3, 3), Error);
  EXPECT_THROW(x.rows(-1, 2), Error);
  EXPECT_THROW(Tensor({}, 1).rows(0, 1), Error);
}

TEST(Tensor, rows_keep_the_storage_of_their_parent_alive) {
  Tensor tail;
  {
    Tensor x({100, 10}, 3);
    tail = x.rows(99, 1);
  }
  EXPECT_TRUE(tail.is_sole_owner());
  for (const Real v : tail.read()) EXPECT_EQ(v, 3);
}

TEST(Tensor, moved_from_may_be_assigned_again) {
  Tensor x({3}, 1);
  const Real* data = x.data();
  Tensor y = std::move(x);
  EXPECT_EQ(y.data(), data);
  EXPECT_TRUE(y.is_sole_owner());
  x = Tensor({2}, 4);
  x.write()[0] = 5;
  EXPECT_EQ(x.read()[0], 5);
  EXPECT_EQ(y.read()[0], 1);
}

TEST(Tensor, is_empty_by_default) {
  Tensor x;
  const Index before = counters().detaches;
  EXPECT_EQ(x.size(), 0);
  EXPECT_TRUE(x.read().empty());
  EXPECT_TRUE(x.write().empty());
  EXPECT_EQ(counters().detaches, before);
}

TEST(Tensor, starts_on_a_cache_line) {
  for (const Index n : {1, 3, 1000, 3 << 20})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Tensor({n}).data()) % 64, 0u);
}

TEST(Scalar, reads_the_only_element) {
  EXPECT_EQ(scalar(Tensor({1, 1}, 3)), 3);
  EXPECT_THROW(scalar(Tensor({2}, 3)), Error);
}

TEST(Accumulate, adds_element_by_element_and_leaves_other_copies_alone) {
  for (const Index n : {1, 7, 70000}) {
    Tensor x = random_tensor({n}, 1);
    const Tensor before = x, y = random_tensor({n}, 2);
    accumulate(x, y);
    for (Index i = 0; i < n; ++i)
      ASSERT_EQ(x.read()[std::size_t(i)], before.read()[std::size_t(i)] + y.read()[std::size_t(i)]);
  }
  Tensor x({2}, 1);
  EXPECT_THROW(accumulate(x, Tensor({3}, 1)), Error);
}

TEST(Accumulate, adds_a_tensor_to_itself) {
  Tensor x({5}, 3);
  const Tensor same = x;
  accumulate(x, same);
  for (const Real v : x.read()) EXPECT_EQ(v, 6);
  for (const Real v : same.read()) EXPECT_EQ(v, 3);
}

}  // namespace
}  // namespace weft::core::tensor_test
