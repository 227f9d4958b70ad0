#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/real.h"

namespace weft::layers {

/// Tokens by group, then position, and where each group starts: one more entry than groups.
struct GroupSort {
  std::vector<std::int32_t> order, start;
};

/// A stable counting sort.
inline GroupSort sort_by_group(std::span<const std::uint16_t> groups, core::Index count) {
  using Slots = std::vector<std::int32_t>;
  GroupSort sorted{Slots(groups.size()), Slots(std::size_t(count) + 1, 0)};
  for (const std::uint16_t g : groups) ++sorted.start[std::size_t(g) + 1];
  for (std::size_t g = 0; g < std::size_t(count); ++g) sorted.start[g + 1] += sorted.start[g];
  Slots next = sorted.start;
  for (std::size_t t = 0; t < groups.size(); ++t)
    sorted.order[std::size_t(next[groups[t]]++)] = std::int32_t(t);
  return sorted;
}

}  // namespace weft::layers
