#pragma once

#include "layers/attention/lists/token_list.h"

namespace weft::layers {

/// How often a pair of tokens is scored over all rounds of hashing, when `chunk` counts by round
/// and token: a token reads its own chunk and the one before.
struct Encounters {
  std::vector<std::vector<std::int32_t>> chunk;   ///< by round and token
  std::vector<std::vector<std::int32_t>> bucket;  ///< the same; empty when buckets do not matter
  /// The number of each round's last chunk when its successor's first chunk reads it; else empty.
  std::vector<std::int32_t> wrapped;

  Index times(Index query, Index key) const;
};

/// rounds: the buckets of each round, of one head.
Encounters aligned_encounters(const ListRule& rule,
                              const std::vector<std::span<const std::uint16_t>>& rounds,
                              Index bucket_count);
Encounters sorted_encounters(const ListRule& rule, const SortedRule& sorted,
                             const std::vector<std::span<const std::uint16_t>>& rounds,
                             Index bucket_count);

}  // namespace weft::layers
