#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "core/simd/kernels.h"

namespace weft::core {
namespace {

struct Candidate {
  bool runs_here;
  const SimdKernels* kernels;
};

const SimdKernels& choose() {
  // Best first. xsimd's own detection is not used: __builtin_cpu_supports also knows whether the
  // operating system saves the wide registers.
  const Candidate candidates[] = {
#ifdef WEFT_HAS_AVX512
      {__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl"),
       &avx512::kernels},
#endif
#ifdef WEFT_HAS_AVX2
      {__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), &avx2::kernels},
#endif
      {true, &baseline::kernels},
  };
  const char* asked = std::getenv("WEFT_ISA");
  for (const Candidate& candidate : candidates) {
    if (!asked && candidate.runs_here) return *candidate.kernels;
    if (asked && std::string_view(asked) == candidate.kernels->isa) {
      require(candidate.runs_here, "WEFT_ISA=", asked, ": this CPU does not have it; unset it");
      return *candidate.kernels;
    }
  }
  throw Error(message_of("WEFT_ISA=", asked, " is none of baseline, avx2, avx512"));
}

}  // namespace

const SimdKernels& simd() {
  static const SimdKernels& chosen = choose();
  return chosen;
}

}  // namespace weft::core
