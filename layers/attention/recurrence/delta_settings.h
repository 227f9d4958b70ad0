#pragma once

#include "layers/attention/recurrence/attention.h"

namespace weft::layers {

/// The settings of mechanisms in which one strength for each token and head erases and writes.
struct DeltaSettings {
  Index conv = 4;
  bool negative = false;
  Index chunk = 64;

  void fields(core::Fields& field) {
    list_conv(field, conv);
    field.flag("negative", negative,
               "lets a token erase twice what a key held, which reverses its sign; state tracking "
               "needs that");
    list_chunk_of(field, chunk);
  }
  /// The most that a token erases, as a share of what its key held.
  Real most_erased() const { return negative ? 2 : 1; }
};

}  // namespace weft::layers
