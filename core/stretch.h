#pragma once

#include "core/real.h"

namespace weft::core {

/// Stretch [begin, end) of a row of things.
struct Stretch {
  Index begin = 0, end = 0;
  Index size() const { return end - begin; }
  bool operator==(const Stretch&) const = default;
};

}  // namespace weft::core
