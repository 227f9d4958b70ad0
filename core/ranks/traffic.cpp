#include "core/ranks/traffic.h"

#include "core/real.h"

namespace weft::core {
namespace {

constexpr Index real_bytes = Index(sizeof(Real)), number_bytes = Index(sizeof(double));
/// Of a part of the tree without statistics: two numbers that say which, and its loss, each list
/// after its length.
constexpr Index part_bytes = 5 * number_bytes;

}  // namespace

Traffic traffic_of_sum(const Slices& slices, Index rank, Index shards) {
  const Index ranks = slices.ranks();
  const Index parts = Index(parts_of(shards_of(rank, ranks, shards)).size());
  Traffic sent;
  for (Index b = 0; b < slices.buckets(); ++b)
    for (Index to = 0; to < ranks; ++to)
      if (const Index size = slices.of(b, to).size(); to != rank && size > 0)
        sent += {parts * size * real_bytes, parts};
  return sent;
}

Traffic traffic_of_values(const Slices& slices, Index rank) {
  const Index others = slices.ranks() - 1;
  Traffic sent;
  for (const Stretch& own : slices.owned(rank)) sent += {others * own.size() * real_bytes, others};
  return sent;
}

Traffic traffic_of_step(const Slices& slices, Index rank, Index shards, Index micro_batches) {
  const Index ranks = slices.ranks(), others = ranks - 1;
  Index pieces = 0;
  for (const Stretch& own : slices.owned(rank))
    pieces += (own.size() + elementwise_grain - 1) / elementwise_grain;
  const Index parts = Index(parts_of(shards_of(rank, ranks, shards)).size());
  Traffic sent = traffic_of_sum(slices, rank, shards);
  sent += traffic_of_values(slices, rank);
  sent += {others * pieces * number_bytes, pieces > 0 ? others : 0};
  sent += {others * micro_batches * number_bytes, others};
  // The length of the text that holds the losses, and the text.
  sent += {others * number_bytes, others};
  sent += {others * parts * part_bytes, others};
  return sent;
}

Traffic traffic_of_chunks(const ChunkUnits& units, Index rank, Index ranks,
                          std::span<const Traffic> between) {
  const Stretch own = shards_of(rank, ranks, units.count());
  Traffic sent;
  for (Index unit = own.begin; unit < own.end; ++unit) {
    const Index shard = units.shard_of(unit), from = units.chunk_of(unit);
    for (Index to = 0; to < units.chunks; ++to)
      if (const Index other = units.unit(shard, to); other < own.begin || other >= own.end)
        sent += between[std::size_t(from * units.chunks + to)];
  }
  return sent;
}

}  // namespace weft::core
