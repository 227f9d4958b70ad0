#include "experiments/train/kernels_used.h"

#include "core/arrays/float_products.h"
#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/simd/kernels.h"

namespace weft::experiments {
namespace {

bool uses_bf16(const RunConfig& config) { return config.train.precision == core::Precision::bf16; }

/// A run of an earlier weft recorded no such fact.
std::string products_of(const Checkpoint& checkpoint) {
  return checkpoint.has("meta/products") ? checkpoint.text("meta/products") : core::products_of_old;
}

}  // namespace

Facts kernels_used(const RunConfig& config) {
  Facts facts{{"isa", std::string(core::simd().isa)},
              {"blas", core::blas_core()},
              {"products", core::float_products()}};
  if (uses_bf16(config)) facts["bf16"] = core::bf16_library();
  return facts;
}

std::string describe_kernels() {
  const std::string products = core::float_products();
  return core::message_of(core::simd().isa, ", BLAS ", core::blas_core(),
                          products == core::products_of_old ? "" : ", " + products);
}

std::vector<std::string> follow_kernels(const Checkpoint& checkpoint, const RunConfig& config) {
  std::vector<std::string> warnings;
  const std::string isa = checkpoint.text("meta/isa"), blas = checkpoint.text("meta/blas");
  if (isa != core::simd().isa || blas != core::blas_core())
    warnings.push_back(core::message_of("warning: saved with ", isa, " and BLAS ", blas,
                                        ", continued with ", core::simd().isa, " and ",
                                        core::blas_core(), ": bits may differ"));
  const std::string products = products_of(checkpoint);
  if (!core::use_float_products(products))
    warnings.push_back("warning: saved with products by " + products + ", continued by " +
                       core::float_products() + ": bits may differ");
  if (uses_bf16(config) && checkpoint.has("meta/bf16") &&
      checkpoint.text("meta/bf16") != core::bf16_library())
    warnings.push_back("warning: saved with bf16 products by " + checkpoint.text("meta/bf16") +
                       ", continued by " + core::bf16_library() + ": bits may differ");
  return warnings;
}

}  // namespace weft::experiments
