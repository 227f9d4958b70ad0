#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/arrays/tensor.h"

namespace weft::tests {

/// The rounding unit of Real.
inline constexpr double epsilon = std::numeric_limits<core::Real>::epsilon();

inline std::vector<double> in_double(std::span<const core::Real> x) { return {x.begin(), x.end()}; }

/// Each |actual - expected| <= tolerance * max(1, |expected|); a NaN is close to nothing.
inline void expect_close(std::span<const core::Real> actual, const std::vector<double>& expected,
                         double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_LE(std::abs(double(actual[i]) - expected[i]),
              tolerance * std::max(1.0, std::abs(expected[i])))
        << "element " << i << " is " << actual[i] << ", expected " << expected[i];
}

inline bool same_bits(std::span<const core::Real> x, std::span<const core::Real> y) {
  return x.size() == y.size() && (x.empty() || !std::memcmp(x.data(), y.data(), x.size_bytes()));
}

}  // namespace weft::tests
