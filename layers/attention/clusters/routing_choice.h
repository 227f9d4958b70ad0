#pragma once

#include <cstdint>
#include <vector>

namespace weft::layers {

/// What a routing pass decides and its replay reads back.
struct RoutingChoice {
  std::vector<std::uint16_t> queries, keys;  ///< clusters, [B, H, T]; keys empty when shared
  /// Paper mode: the tokens that each cluster takes, for each lane [K, tokens]; keys as above.
  std::vector<std::vector<std::uint32_t>> query_sets, key_sets;
};

}  // namespace weft::layers
