// The kernels that select keys, on every instruction set, against scalar loops.
#include "tests/closeness.h"
#include "tests/core/simd/simd_tables.h"

namespace weft::core::simd_selection_kernels_contract_test {
namespace {

class SimdSelectionKernelsOf : public SimdKernelsOf {};

TEST_P(SimdSelectionKernelsOf, keep_below) {
  for (const Index n : lengths()) {
    const Numbers scores = drawn(n, 1);
    Numbers position(scores.size()), s = scores;
    for (std::size_t i = 0; i < position.size(); ++i) position[i] = Real(i * 7 % 11);
    const Index kept = k.keep_below(s.data(), position.data(), 5, -100, n);
    Index expected = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      expected += position[i] < 5;
      EXPECT_EQ(s[i], position[i] < 5 ? scores[i] : -100);
    }
    EXPECT_EQ(kept, expected);
  }
}

TEST_P(SimdSelectionKernelsOf, project) {
  for (const Index d : {0, 1, 5, 64})
    for (const Index cols : lengths_from_one()) {
      const Numbers x = drawn(d, 1), m = drawn(d * cols, 2);
      Numbers y(std::size_t(cols), 7);
      k.project(x.data(), m.data(), y.data(), d, cols);
      const auto expected = mapped(cols, [&](std::size_t c) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
          sum += double(x[i]) * m[i * std::size_t(cols) + c];
        return sum;
      });
      tests::expect_close(y, expected, 100 * tests::epsilon);
    }
}

TEST_P(SimdSelectionKernelsOf, dots_and_sums_of_listed_rows) {
  constexpr Index gap = 3, rows = 10;
  for (const Index count : {0, 1, 3, 4, 9})
    for (const Index d : lengths_from_one()) {
      const Index stride = d + gap;
      const Numbers x = drawn(d, 1), m = drawn(rows * stride, 2), a = drawn(count, 3);
      std::vector<std::int32_t> index;
      for (Index i = 0; i < count; ++i) index.push_back(std::int32_t(i * 7 % rows));
      Numbers y(std::size_t(count), 7), sum = x, outer = m;
      k.dots(x.data(), m.data(), stride, index.data(), y.data(), count, d);
      k.add_rows(a.data(), m.data(), stride, index.data(), sum.data(), count, d);
      k.add_outer(a.data(), x.data(), outer.data(), stride, index.data(), count, d);
      std::vector<long double> exact(y.size(), 0);
      std::vector<double> sums(x.begin(), x.end()), products(m.begin(), m.end());
      for (std::size_t i = 0; i < y.size(); ++i)
        for (std::size_t c = 0; c < x.size(); ++c) {
          const std::size_t at = std::size_t(index[i]) * std::size_t(stride) + c;
          exact[i] += static_cast<long double>(x[c]) * m[at];
          sums[c] += double(a[i]) * m[at];
          products[at] += double(a[i]) * x[c];
        }
      tests::expect_close(y, std::vector<double>(exact.begin(), exact.end()), 100 * tests::epsilon);
      tests::expect_close(sum, sums, 100 * tests::epsilon);
      tests::expect_close(outer, products, 100 * tests::epsilon);
      for (std::size_t i = 0; i < y.size(); ++i) {
        Real alone = 7;
        k.dots(x.data(), m.data(), stride, index.data() + i, &alone, 1, d);
        EXPECT_EQ(alone, y[i]) << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Simd, SimdSelectionKernelsOf, testing::ValuesIn(tables_for_this_cpu()),
                         [](const auto& table) { return table.param->isa; });

}  // namespace
}  // namespace weft::core::simd_selection_kernels_contract_test
