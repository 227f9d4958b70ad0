#pragma once

#include "core/stretch.h"

namespace weft::core {

/// The columns of sequences of `length` tokens, cut into `count` chunks.
struct ChunkCut {
  Index length = 0, count = 1;

  Stretch of(Index chunk) const { return {chunk * length / count, (chunk + 1) * length / count}; }
  bool operator==(const ChunkCut&) const = default;
};

/// The units that ranks share out where a batch is cut by rows into shards and by columns into
/// chunks. The chunks of a shard are numbered from the right, in the order in which a backward
/// sweep ends them.
struct ChunkUnits {
  Index shards = 1, chunks = 1;

  Index count() const { return shards * chunks; }
  Index unit(Index shard, Index chunk) const { return shard * chunks + chunks - 1 - chunk; }
  Index shard_of(Index unit) const { return unit / chunks; }
  Index chunk_of(Index unit) const { return chunks - 1 - unit % chunks; }
  /// The shards that units lie in.
  Stretch shards_of(Stretch units) const {
    return {units.begin / chunks, (units.end + chunks - 1) / chunks};
  }
  /// Those of some units that lie in a shard.
  Stretch units_in(Index shard, Stretch units) const;
};

}  // namespace weft::core
