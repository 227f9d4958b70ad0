#pragma once

#include <atomic>

#include "core/real.h"

namespace weft::core {

/// What the kernels have done since the program started. Tests compare differences of these with
/// cost models: counts are exact and repeatable where clocks are not.
struct Counters {
  std::atomic<Index> flops{0};         ///< multiply-adds of matrix products, two each
  std::atomic<Index> scored_pairs{0};  ///< (query, key) pairs whose score entered a softmax
  std::atomic<Index> detaches{0};      ///< copies made because a written tensor was shared
  std::atomic<Index> weight_bytes{0};  ///< weights that products with a single token have read
  std::atomic<Index> sent_bytes{0};    ///< to other ranks
  std::atomic<Index> messages{0};      ///< the same, counted
  std::atomic<Index> added_terms{0};   ///< additions of sums over shards
  std::atomic<Index> waits{0};         ///< for messages that had not come yet
  std::atomic<Index> waited_us{0};     ///< the microseconds that these took
};

Counters& counters();

}  // namespace weft::core
