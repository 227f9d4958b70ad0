#pragma once

#include <functional>
#include <vector>

#include "core/rng.h"
#include "core/simd/kernels.h"

namespace weft::core {

using Numbers = std::vector<Real>;

/// The kernel tables of every instruction set that this CPU has.
inline std::vector<const SimdKernels*> tables_for_this_cpu() {
  std::vector<const SimdKernels*> tables{&baseline::kernels};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    tables.push_back(&avx2::kernels);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    tables.push_back(&avx512::kernels);
#endif
  return tables;
}

/// Drawn exactly as long as asked, so that a sanitizer sees the first element beyond.
inline Numbers drawn(Index n, std::uint64_t seed, double scale = 1) {
  Numbers x(std::size_t(n), 0);
  fill_normal(x, Rng(seed), scale);
  return x;
}

/// f(0) ... f(n - 1)
inline std::vector<double> mapped(Index n, const std::function<double(std::size_t)>& f) {
  std::vector<double> y;
  for (std::size_t i = 0; i < std::size_t(n); ++i) y.push_back(f(i));
  return y;
}

/// Runs a test once for each table.
class SimdKernelsOf : public testing::TestWithParam<const SimdKernels*> {
 protected:
  const SimdKernels& k = *GetParam();

  std::vector<Index> lengths_from_one() const {
    return {1, 2, 3, k.lanes - 1, k.lanes, k.lanes + 1, 2 * k.lanes + 1, 33, 1000};
  }
  std::vector<Index> lengths() const {
    auto all = lengths_from_one();
    all.push_back(0);
    return all;
  }
};

}  // namespace weft::core
