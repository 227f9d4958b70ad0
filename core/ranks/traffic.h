#pragma once

#include "core/ranks/chunk_cut.h"
#include "core/ranks/slices.h"

namespace weft::core {

/// What a rank sends.
struct Traffic {
  Index bytes = 0, messages = 0;

  Traffic& operator+=(const Traffic& other) {
    bytes += other.bytes;
    messages += other.messages;
    return *this;
  }
  bool operator==(const Traffic&) const = default;
};

// Closed forms, which tests compare with the counters. The array is that of the dense parameters.

/// Of the sum over shards: what others own, once for each of the rank's parts of the tree.
Traffic traffic_of_sum(const Slices& slices, Index rank, Index shards);
/// Of the new values: what the rank owns, to each of the others.
Traffic traffic_of_values(const Slices& slices, Index rank);
/// Of a training step: both, the sums of squares of its pieces, and for each part a loss and for
/// each micro-batch a count of targets. Statistics of states and rows of row-sparse parameters
/// depend on the data and come on top.
Traffic traffic_of_step(const Slices& slices, Index rank, Index shards, Index micro_batches);
/// Of the chunks of a rank, which come on top: `between` has for each chunk what it sends each of
/// the others in a pass over a row shard, [chunks, chunks].
Traffic traffic_of_chunks(const ChunkUnits& units, Index rank, Index ranks,
                          std::span<const Traffic> between);

}  // namespace weft::core
