#include "experiments/bench/product_speed.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "core/arrays/avx512_products.h"
#include "core/arrays/bf16.h"
#include "core/arrays/gemm.h"
#include "core/arrays/onednn.h"
#include "core/arrays/openblas.h"
#include "core/parallel.h"
#include "experiments/console/progress.h"

namespace weft::experiments {

using core::Index;

namespace {

using core::Operand;
using Product = std::function<void(const Operand&, const Operand&, const core::Matrix&)>;

constexpr Index side = 1024;

double gflops_of(const Product& multiply, const Operand& a, const Operand& b) {
  const auto product = [&] {
    core::Tensor c({side, side});
    multiply(a, b, {c.write().data(), side, side, side});
  };
  const Index threads = core::threads();
  double best = 1e300;
  for (int round = 0; round < 5; ++round) {
    const double start = steady_seconds();
    std::vector<std::jthread> others;
    for (Index t = 1; t < threads; ++t) others.emplace_back(product);
    product();
    others.clear();
    best = std::min(best, steady_seconds() - start);
  }
  return 2e-9 * double(side * side * side) * double(threads) / best;
}

/// A matrix for both factors.
core::Tensor ones() { return core::Tensor({side, side}, 1); }
core::ConstMatrix whole(const core::Tensor& x) { return {x.data(), side, side, side}; }

}  // namespace

std::map<std::string, double> measure_float_products() {
  std::map<std::string, Product> libraries;
  libraries["OpenBLAS"] = [](const Operand& a, const Operand& b, const core::Matrix& c) {
    core::openblas_gemm(1, a, b, 0, c);
  };
  if (core::onednn_multiplies_float())
    libraries["oneDNN"] = [](const Operand& a, const Operand& b, const core::Matrix& c) {
      core::onednn_gemm(1, a, b, 0, c);
    };
  if (core::avx512_multiplies())
    libraries["weft"] = [](const Operand& a, const Operand& b, const core::Matrix& c) {
      core::avx512_gemm(1, a, b, 0, c);
    };
  const core::Tensor x = ones();
  std::map<std::string, double> speeds;
  for (const auto& [name, multiply] : libraries)
    speeds[name] = gflops_of(multiply, whole(x), whole(x));
  return speeds;
}

double measure_bf16_products() {
  const core::Tensor x = ones();
  const core::Bf16Array rounded = core::Bf16Array::of(whole(x));
  const auto multiply = [](const Operand& a, const Operand& b, const core::Matrix& c) {
    core::gemm(1, a, b, 0, c);
  };
  return gflops_of(multiply, rounded.view(), rounded.view());
}

}  // namespace weft::experiments
