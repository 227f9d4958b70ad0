#pragma once

#include <cstdint>
#include <vector>

#include "core/real.h"

namespace weft::layers {

using core::Index;

/// Labels of consecutive keys: key begin + x has the label first + step x.
struct LabelRun {
  Index begin, end;
  std::int32_t first, step;
};

/// The labels of what queries read, where the offset of a key alone does not say them: each is a
/// row of the tables that scores gain by (see RelativePositions).
class KeyLabels {
 public:
  virtual ~KeyLabels() = default;

  /// Appends runs in the order of keys, apart from each other, that hold every key which the
  /// query reads.
  virtual void of(Index query, std::vector<LabelRun>& out) const = 0;
};

}  // namespace weft::layers
