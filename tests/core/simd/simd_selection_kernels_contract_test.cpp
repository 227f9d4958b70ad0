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

INSTANTIATE_TEST_SUITE_P(Simd, SimdSelectionKernelsOf, testing::ValuesIn(tables_for_this_cpu()),
                         [](const auto& table) { return table.param->isa; });

}  // namespace
}  // namespace weft::core::simd_selection_kernels_contract_test
