#include "core/arrays/avx512_products.h"

#include <string_view>

#include "core/arrays/tensor.h"
#include "core/counters.h"
#include "core/simd/kernels.h"
#include "core/simd/product.h"

namespace weft::core {

#ifdef WEFT_HAS_AVX512

namespace {

void multiply(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  alignas(64) thread_local Real room[StridedProduct::room];
  const auto step = [](const Operand& f, bool to_row) {
    return f.transposed == to_row ? 1 : f.matrix.stride;
  };
  avx512::multiply({c.rows, c.cols, a.cols(), alpha, beta, a.matrix.data, step(a, true),
                    step(a, false), b.matrix.data, step(b, true), step(b, false), c.data, c.stride},
                   room);
}

/// c = t^T + beta c
void add_transposed(const Tensor& t, Real beta, const Matrix& c) {
  constexpr Index block = 16;
  for (Index i = 0; i < c.rows; i += block)
    for (Index j = 0; j < c.cols; ++j)
      for (Index r = i; r < std::min(i + block, c.rows); ++r) {
        Real& to = c.row(r)[j];
        to = t.data()[j * c.rows + r] + (beta == 0 ? Real(0) : beta * to);
      }
}

/// The kernel reads the left factor where it is. Where that is a transposed matrix with distant
/// rows, as in gradients of weights, their lines compete for the cache; then it reads the other one
/// so, and the result is transposed.
bool swaps(const Operand& a, const Operand& b) {
  constexpr Index many_terms = 1024, distant = 1024;
  return a.transposed && !b.transposed && a.cols() >= many_terms && a.matrix.stride >= distant &&
         b.matrix.stride < a.matrix.stride;
}

}  // namespace

bool avx512_multiplies() {
  static const bool does = std::string_view(simd().isa) == "avx512";
  return does;
}

void avx512_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  if (swaps(a, b)) {
    Tensor t({c.cols, c.rows});
    multiply(alpha, transposed(b), transposed(a), 0, {t.write().data(), c.cols, c.rows, c.rows});
    add_transposed(t, beta, c);
  } else {
    multiply(alpha, a, b, beta, c);
  }
  counters().flops.fetch_add(2 * c.rows * c.cols * a.cols(), std::memory_order_relaxed);
}

#else

bool avx512_multiplies() { return false; }

void avx512_gemm(Real, const Operand&, const Operand&, Real, const Matrix&) {}

#endif

}  // namespace weft::core
