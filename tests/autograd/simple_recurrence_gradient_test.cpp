#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"

namespace weft::autograd::simple_recurrence_gradient_test {
namespace {

using tests::random_tensor;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(SimpleRecurrence, averages_along_each_sequence) {
  const Index batch = 2, length = 7, n = 3;
  const Tensor gates = random_tensor({batch * length, 3 * n}, 1),
               x = random_tensor({batch * length, n}, 2);
  std::vector<double> expected, c(n, 0.0);
  for (Index r = 0; r < batch * length; ++r) {
    if (r % length == 0) c.assign(n, 0.0);
    for (Index i = 0; i < n; ++i) {
      const auto gate = [&](Index k) { return double(gates.data()[r * 3 * n + k * n + i]); };
      double& own = c[std::size_t(i)];
      own = sigmoid(gate(1)) * own + (1 - sigmoid(gate(1))) * gate(0);
      const double open = sigmoid(gate(2));
      expected.push_back(open * own + std::sqrt(3.0) * (1 - open) * x.data()[r * n + i]);
    }
  }
  tests::expect_close(simple_recurrence(Var(gates), Var(x), length).value().read(), expected,
                      1e-12);
  EXPECT_THROW(simple_recurrence(Var(gates), Var(x), 4), core::Error);
  EXPECT_THROW(simple_recurrence(Var(x), Var(x), 7), core::Error);
}

TEST(SimpleRecurrence, goes_token_by_token_as_over_the_whole) {
  const Index length = 9, n = 5;
  const Tensor gates = random_tensor({length, 3 * n}, 1), x = random_tensor({length, n}, 2);
  const Tensor whole = simple_recurrence(Var(gates), Var(x), length).value();
  std::vector<Real> c(n, 0), y(n);
  for (Index t = 0; t < length; ++t) {
    step_recurrence(gates.rows(t, 1).read(), x.rows(t, 1).read(), c, y);
    EXPECT_TRUE(tests::same_bits(std::span<const Real>(y), whole.rows(t, 1).read()));
  }
}

TEST(SimpleRecurrenceGradient, agrees_with_differences) {
  for (const auto& [batch, length, n] : {std::tuple{1, 1, 1}, {3, 6, 4}, {1, 40, 5}})
    tests::check_gradient(
        "simple_recurrence",
        [&](const Pass&, const std::vector<Var>& in) {
          return simple_recurrence(in[0], in[1], length);
        },
        {random_tensor({batch * length, 3 * n}, 1), random_tensor({batch * length, n}, 2)});
}

}  // namespace
}  // namespace weft::autograd::simple_recurrence_gradient_test
