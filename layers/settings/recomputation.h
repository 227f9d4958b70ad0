#pragma once

#include "core/real.h"

namespace weft::layers {

/// Which layers keep only their input and are computed again in the backward pass: none, all, or
/// the first few. The first are the ones to choose, since the others' activations are gone again
/// when theirs are needed.
class Recomputation {
 public:
  /// Of all layers, or none.
  Recomputation(bool all = false) : all_(all) {}
  static Recomputation of_first(core::Index layers) {
    Recomputation some;
    some.first_ = layers;
    return some;
  }

  bool of(core::Index layer) const { return all_ || layer < first_; }
  /// For stacks whose layers are recomputed together.
  bool any() const { return all_ || first_ > 0; }

 private:
  bool all_;
  core::Index first_ = 0;
};

}  // namespace weft::layers
