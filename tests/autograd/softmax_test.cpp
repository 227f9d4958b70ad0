#include <cmath>

#include "autograd/ops.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::autograd::softmax_test {
namespace {

TEST(Softmax, divides_exponentials_by_their_sum_also_where_they_would_overflow) {
  Tensor x({2, 3});
  const std::vector<double> rows{0, std::log(2.0), std::log(5.0), 1000, 1000, 0};
  std::ranges::copy(rows, x.write().begin());
  tests::expect_close(softmax(Var(x)).value().read(),
                      std::vector<double>{0.125, 0.25, 0.625, 0.5, 0.5, 0}, 1e-6);
  EXPECT_THROW(softmax(Var(Tensor({3, 0}))), std::exception);
}

}  // namespace
}  // namespace weft::autograd::softmax_test
