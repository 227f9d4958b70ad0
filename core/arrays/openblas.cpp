#include "core/arrays/openblas.h"

#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "core/counters.h"
#include "core/error.h"
#include "core/out_of_memory.h"
#include "core/parallel.h"

// Of OpenBLAS, without a header; absent from some builds of it.
extern "C" {
__attribute__((weak)) void* blas_memory_alloc(int position);
__attribute__((weak)) void blas_memory_free(void* buffer);
}

namespace weft::core {
namespace {

CBLAS_TRANSPOSE flag(const Operand& f) { return f.transposed ? CblasTrans : CblasNoTrans; }

/// OpenBLAS works in a buffer for each thread that multiplies, and asks for one again and again,
/// for ever, where there is no memory left. So they are asked for once, before the first product.
void reserve_blas_buffers() {
  constexpr std::size_t buffer = std::size_t(136) << 20;  // a little more than it takes
  if (!blas_memory_alloc || !blas_memory_free) return;
  std::vector<void*> taken;
  for (Index thread = 0; thread < threads(); ++thread) {
    void* room = ::mmap(nullptr, buffer, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
      throw OutOfMemory(message_of("out of memory: ", threads(), " threads need ", buffer >> 20,
                                   " MiB of address space each for matrix products"),
                        "Allow more (ulimit -v), or take fewer with threads=1");
    ::munmap(room, buffer);
    taken.push_back(blas_memory_alloc(0));
  }
  for (void* one : taken) blas_memory_free(one);
}

}  // namespace

void keep_blas_on_one_thread() {
  static const bool ready = (openblas_set_num_threads(1), reserve_blas_buffers(), true);
  (void)ready;
}

void openblas_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  keep_blas_on_one_thread();
  const auto m = blasint(c.rows), n = blasint(c.cols), k = blasint(a.cols());
  const auto lda = blasint(std::max<Index>(1, a.matrix.stride));
  const auto ldb = blasint(std::max<Index>(1, b.matrix.stride));
  const auto ldc = blasint(c.stride);
#ifdef WEFT_DOUBLE
  cblas_dgemm(CblasRowMajor, flag(a), flag(b), m, n, k, alpha, a.matrix.data, lda, b.matrix.data,
              ldb, beta, c.data, ldc);
#else
  cblas_sgemm(CblasRowMajor, flag(a), flag(b), m, n, k, alpha, a.matrix.data, lda, b.matrix.data,
              ldb, beta, c.data, ldc);
#endif
  counters().flops.fetch_add(2 * c.rows * c.cols * a.cols(), std::memory_order_relaxed);
}

}  // namespace weft::core
