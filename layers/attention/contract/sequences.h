#pragma once

#include <memory>
#include <vector>

#include "core/arrays/tensor.h"
#include "core/arrays/tokens.h"
#include "layers/attention/contract/chunk_place.h"
#include "layers/attention/contract/rows.h"

namespace weft::layers {

using core::Tensor;

/// The states that recurrences pass from one segment of their streams to the next, without
/// gradient: a row of numbers for each stream.
struct CarriedState {
  Tensor before;  ///< at the start of this segment, [B, n]
  Tensor after;   ///< at its end; the forward pass leaves it here
};

/// The state that a layer passes from one segment of its streams to the next: what its attention
/// read, and the states of its recurrences, all head groups side by side.
struct CarriedInput {
  Tensor before;  ///< of the tokens before this segment, [B * M, W], without gradient
  Tensor now;     ///< of this segment, [B * T, W]; the forward pass leaves it here
  CarriedState state;
};

/// The sequences of one call: B of them, `queries` long, reading `keys` keys each. A causal query
/// i reads keys up to i + keys - queries.
struct Sequences {
  Index batch = 1, queries = 0, keys = 0;
  bool causal = true;
  core::Lengths key_lengths = nullptr;  ///< how many keys of each sequence are real
  /// If the sequences continue streams, what this layer carries; else null.
  std::shared_ptr<CarriedInput> segment = nullptr;
  /// If a mechanism adds rows to those of the tokens: how each sequence's rows are arranged.
  /// Queries, keys and key lengths then count rows.
  RowLayouts rows = nullptr;
  /// The part of it that belongs to one head group's recurrence; null where it starts from zeros.
  std::shared_ptr<CarriedState> state = nullptr;
  /// If these are columns of longer sequences: which. Null where they are whole.
  std::shared_ptr<const ChunkPlace> chunk = nullptr;

  /// How many keys of sequence b are real, not padding.
  Index real_keys(Index b) const { return key_lengths ? (*key_lengths)[std::size_t(b)] : keys; }

  /// The same of all sequences.
  std::vector<Index> all_real_keys() const {
    return key_lengths ? *key_lengths : std::vector<Index>(std::size_t(batch), keys);
  }

  static Sequences self(Index batch, Index length, bool causal) {
    return {batch, length, length, causal};
  }
};

}  // namespace weft::layers
