#pragma once

#include "core/real.h"

namespace weft::core {

/// What images that are read as sequences have in common: rows of columns of channels of values
/// 0 .. levels - 1, which follow each other in this order.
struct ImageForm {
  Index rows = 0, columns = 0, channels = 1;
  Index levels = 256;

  /// D, the values of an image.
  Index values() const { return rows * columns * channels; }
  /// The values of one row.
  Index row() const { return columns * channels; }
  bool operator==(const ImageForm&) const = default;
};

}  // namespace weft::core
