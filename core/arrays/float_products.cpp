#include "core/arrays/float_products.h"

#include <cblas.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/arrays/onednn.h"
#include "core/error.h"

namespace weft::core {
namespace {

enum class Way { openblas, by_shape };

std::string name_of(Way way) {
  return way == Way::openblas ? products_of_old : onednn_version() + " by shape";
}

Way first_choice() {
  const char* const asked = std::getenv("WEFT_PRODUCTS");
  const std::string_view word = asked ? asked : "";
  require(!asked || word == "openblas" || word == "onednn", "WEFT_PRODUCTS=", word,
          " is neither openblas nor onednn");
  require(word != "onednn" || onednn_multiplies_float(),
          "WEFT_PRODUCTS=onednn: weft was built without oneDNN (libdnnl-dev), or this processor or "
          "WEFT_ISA has no AVX-512; unset it");
  return word != "openblas" && onednn_multiplies_float() ? Way::by_shape : Way::openblas;
}

std::atomic<Way>& way_in_use() {
  static std::atomic<Way> way{first_choice()};
  return way;
}

/// OpenBLAS runs kernels that use the whole width of AVX-512.
bool openblas_is_wide() {
  static const bool wide = [] {
    const std::string core = openblas_get_corename();
    return core == "SkylakeX" || core == "Cooperlake" || core == "Sapphirerapids";
  }();
  return wide;
}

}  // namespace

std::string float_products() { return name_of(way_in_use()); }

bool use_float_products(const std::string& recorded) {
  if (recorded == float_products()) return true;
  if (std::getenv("WEFT_PRODUCTS")) return false;
  for (const Way way : {Way::openblas, Way::by_shape}) {
    if (recorded != name_of(way) || (way == Way::by_shape && !onednn_multiplies_float())) continue;
    way_in_use() = way;
    return true;
  }
  return false;
}

// Measured on a Zen 5 core against OpenBLAS 0.3.21 (SkylakeX); the design note has the figures.
bool goes_to_onednn(const Operand& a, const Operand& b, const Matrix& c) {
  constexpr Index least_work = 64 * 64 * 64;  // below, OpenBLAS has kernels of its own
  constexpr Index page = 1024;                // rows this far apart compete for the same cache sets
  if (way_in_use().load(std::memory_order_relaxed) == Way::openblas) return false;
  if (c.rows * c.cols * a.cols() < least_work) return false;
  if (!openblas_is_wide()) return true;
  const bool narrow = c.cols <= 64;
  if (a.transposed) return a.matrix.stride % page != 0 && (!narrow || a.cols() >= 512);
  const bool without_gaps =
      a.matrix.stride == a.matrix.cols && b.matrix.stride == b.matrix.cols && c.stride == c.cols;
  return !b.transposed || !narrow || without_gaps;
}

}  // namespace weft::core
