#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"

namespace weft::autograd::join_rows_gradient_test {
namespace {

using tests::random_tensor;

core::Lengths lengths(std::vector<Index> all) {
  return std::make_shared<const std::vector<Index>>(std::move(all));
}

TEST(JoinRows, puts_each_sequence_right_behind_the_real_rows_of_the_other) {
  const Tensor x = random_tensor({3 * 4, 2}, 1), y = random_tensor({3 * 2, 2}, 2);
  const auto real = lengths({4, 0, 3});
  const Tensor z = join_rows(Var(x), Var(y), real).value();
  ASSERT_EQ(z.shape(), (Shape{3 * 6, 2}));
  for (Index b = 0; b < 3; ++b) {
    const Index n = (*real)[std::size_t(b)];
    for (Index t = 0; t < 6; ++t) {
      const Tensor row = z.rows(6 * b + t, 1);
      const Tensor expected = t < n       ? x.rows(4 * b + t, 1)
                              : t < n + 2 ? y.rows(2 * b + t - n, 1)
                                          : Tensor({1, 2}, 0);
      EXPECT_TRUE(tests::same_bits(row.read(), expected.read())) << b << ", " << t;
    }
  }
  EXPECT_TRUE(tests::same_bits(rows_behind(Var(z), real, 2).value().read(), y.read()));
}

TEST(JoinRows, refuses_what_does_not_fit) {
  const Var x(random_tensor({6, 2}, 1)), y(random_tensor({6, 3}, 1));
  EXPECT_THROW(join_rows(x, y, lengths({1, 2})), core::Error);
  EXPECT_THROW(join_rows(x, x, lengths({4, 2})), core::Error);
  EXPECT_THROW(join_rows(x, x, lengths({-1, 2})), core::Error);
  EXPECT_THROW(join_rows(x, x, lengths({1, 2, 1, 1})), core::Error);
  EXPECT_THROW(rows_behind(x, lengths({2, 2}), 2), core::Error);
  EXPECT_THROW(rows_behind(x, lengths({0, 0}), 4), core::Error);
}

TEST(JoinRowsGradient, agrees_with_differences) {
  tests::check_gradient("join_rows",
                        [](const Pass&, const std::vector<Var>& in) {
                          return join_rows(in[0], in[1], lengths({4, 0, 3}));
                        },
                        {random_tensor({12, 5}, 1), random_tensor({6, 5}, 2)});
  tests::check_gradient("rows_behind",
                        [](const Pass&, const std::vector<Var>& in) {
                          return rows_behind(in[0], lengths({2, 0, 1}), 2);
                        },
                        {random_tensor({12, 5}, 1)});
}

}  // namespace
}  // namespace weft::autograd::join_rows_gradient_test
