#include "core/arrays/float_products.h"

#include <cblas.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/arrays/avx512_products.h"
#include "core/arrays/onednn.h"
#include "core/error.h"

namespace weft::core {
namespace {

enum class Way { openblas, onednn_by_shape, weft };

std::string name_of(Way way) {
  switch (way) {
    case Way::openblas:
      break;
    case Way::onednn_by_shape:
      return onednn_version() + " by shape";
    case Way::weft:
      return "weft 1";  // another number where its sums run in another order
  }
  return products_of_old;
}

bool works_here(Way way) {
  return way == Way::openblas ||
         (way == Way::weft ? avx512_multiplies() : onednn_multiplies_float());
}

Way first_choice() {
  const char* const asked = std::getenv("WEFT_PRODUCTS");
  const std::string_view word = asked ? asked : "";
  require(!asked || word == "openblas" || word == "onednn" || word == "weft",
          "WEFT_PRODUCTS=", word, " is none of openblas, onednn and weft");
  require(word != "onednn" || onednn_multiplies_float(),
          "WEFT_PRODUCTS=onednn: weft was built without oneDNN (libdnnl-dev), or this processor or "
          "WEFT_ISA has no AVX-512; unset it");
  require(word != "weft" || avx512_multiplies(),
          "WEFT_PRODUCTS=weft: this processor or WEFT_ISA has no AVX-512; unset it");
  if (word == "onednn") return Way::onednn_by_shape;
  return word != "openblas" && avx512_multiplies() ? Way::weft : Way::openblas;
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

/// OpenBLAS has kernels for small products, and tiles of weft's are 32 columns wide.
bool suits_weft(const Operand& a, const Matrix& c) {
  constexpr Index least_work = 32 * 32 * 32;
  return c.rows * c.cols * a.cols() >= least_work && c.cols >= 16;
}

// Measured on a Zen 5 core against OpenBLAS 0.3.21 (SkylakeX); the design note has the figures.
bool suits_onednn(const Operand& a, const Operand& b, const Matrix& c) {
  constexpr Index least_work = 64 * 64 * 64;  // below, OpenBLAS has kernels of its own
  constexpr Index page = 1024;                // rows this far apart compete for the same cache sets
  if (c.rows * c.cols * a.cols() < least_work) return false;
  if (!openblas_is_wide()) return true;
  const bool narrow = c.cols <= 64;
  if (a.transposed) return a.matrix.stride % page != 0 && (!narrow || a.cols() >= 512);
  const bool without_gaps =
      a.matrix.stride == a.matrix.cols && b.matrix.stride == b.matrix.cols && c.stride == c.cols;
  return !b.transposed || !narrow || without_gaps;
}

}  // namespace

std::string float_products() { return name_of(way_in_use()); }

bool use_float_products(const std::string& recorded) {
  if (recorded == float_products()) return true;
  if (std::getenv("WEFT_PRODUCTS")) return false;
  for (const Way way : {Way::openblas, Way::onednn_by_shape, Way::weft}) {
    if (recorded != name_of(way) || !works_here(way)) continue;
    way_in_use() = way;
    return true;
  }
  return false;
}

Multiplier multiplier_of(const Operand& a, const Operand& b, const Matrix& c) {
  const Way way = way_in_use().load(std::memory_order_relaxed);
  if (way == Way::weft && suits_weft(a, c)) return Multiplier::avx512;
  if (way == Way::onednn_by_shape && suits_onednn(a, b, c)) return Multiplier::onednn;
  return Multiplier::openblas;
}

}  // namespace weft::core
