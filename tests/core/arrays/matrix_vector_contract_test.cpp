#include "core/arrays/matrix_vector.h"
#include "core/counters.h"
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::core::matrix_vector_contract_test {
namespace {

/// y + m x, plainly and in double.
std::vector<double> naive(const ConstMatrix& m, const Tensor& x, const Tensor& y) {
  std::vector<double> sums = tests::in_double(y.read());
  for (Index r = 0; r < m.rows; ++r)
    for (Index c = 0; c < m.cols; ++c)
      sums[std::size_t(r)] += double(m.data[r * m.stride + c]) * double(x.read()[std::size_t(c)]);
  return sums;
}

TEST(MultiplyVector, adds_the_product_also_of_a_part_of_a_wider_matrix) {
  for (const auto& [rows, cols, gap] : {std::tuple{1, 1, 0},
                                        {5, 3, 2},
                                        {33, 1000, 0},
                                        {1000, 65, 7},
                                        {3, 0, 0},
                                        {0, 5, 0},
                                        {300, 1030, 1}}) {
    const Tensor all = tests::random_tensor({rows * (cols + gap) + 1}, 1);
    const Tensor x = tests::random_tensor({cols}, 2);
    Tensor y = tests::random_tensor({rows}, 3);
    const ConstMatrix m{all.data(), rows, cols, cols + gap};
    const std::vector<double> expected = naive(m, x, y);
    multiply_vector(m, x.data(), y.write().data());
    tests::expect_close(y.read(), expected, 100 * tests::epsilon * (1 + std::sqrt(cols)));
  }
}

TEST(MultiplyVector, gives_the_same_bits_on_any_number_of_threads) {
  const Tensor m = tests::random_tensor({700, 515}, 1), x = tests::random_tensor({515}, 2);
  const auto product = [&](Index threads) {
    set_threads(threads);
    Tensor y({700}, 0);
    multiply_vector({m.data(), 700, 515, 515}, x.data(), y.write().data());
    return y;
  };
  const Tensor alone = product(1);
  for (const Index threads : {2, 3, 7})
    EXPECT_TRUE(tests::same_bits(product(threads).read(), alone.read())) << threads;
  set_threads(0);
}

TEST(MultiplyVector, counts_the_weights_that_it_reads) {
  const Tensor m = tests::random_tensor({70, 51}, 1);
  Tensor y({70}, 0);
  const Index bytes = counters().weight_bytes, flops = counters().flops;
  multiply_vector({m.data(), 70, 51, 51}, m.data(), y.write().data());
  EXPECT_EQ(counters().weight_bytes - bytes, 70 * 51 * Index(sizeof(Real)));
  EXPECT_EQ(counters().flops - flops, 2 * 70 * 51);
}

}  // namespace
}  // namespace weft::core::matrix_vector_contract_test
