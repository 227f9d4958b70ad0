#include "layers/attention/lists/encounters.h"

#include "layers/attention/lists/group_sort.h"

namespace weft::layers {

Index Encounters::times(Index query, Index key) const {
  const auto i = std::size_t(query), j = std::size_t(key);
  Index count = 0;
  for (std::size_t r = 0; r < chunk.size(); ++r) {
    const std::int32_t back = chunk[r][i] - chunk[r][j];
    count += (back == 0 || back == 1) && (bucket.empty() || bucket[r][i] == bucket[r][j]);
    const std::size_t before = r > 0 ? r - 1 : chunk.size() - 1;
    count += !wrapped.empty() && chunk[r][i] == 0 && chunk[before][j] == wrapped[before];
  }
  return count;
}

Encounters aligned_encounters(const ListRule& rule,
                              const std::vector<std::span<const std::uint16_t>>& rounds,
                              Index bucket_count) {
  Encounters all;
  for (const auto& buckets : rounds) {
    const GroupSort sorted = sort_by_group(buckets, bucket_count);
    std::vector<std::int32_t> chunk(buckets.size());
    std::int32_t next = 0;  // a number is left out between buckets
    for (std::size_t g = 0; g < std::size_t(bucket_count); ++g) {
      const Index size = sorted.start[g + 1] - sorted.start[g];
      for (Index rank = 0; rank < size; ++rank)
        chunk[std::size_t(sorted.order[std::size_t(sorted.start[g] + rank)])] =
            next + std::int32_t(rank / rule.chunk);
      if (size > 0) next += std::int32_t((size - 1) / rule.chunk) + 2;
    }
    all.chunk.push_back(std::move(chunk));
  }
  return all;
}

Encounters sorted_encounters(const ListRule& rule, const SortedRule& sorted_rule,
                             const std::vector<std::span<const std::uint16_t>>& rounds,
                             Index bucket_count) {
  Encounters all;
  for (const auto& buckets : rounds) {
    const GroupSort sorted = sort_by_group(buckets, bucket_count);
    std::vector<std::int32_t> chunk(buckets.size());
    for (std::size_t slot = 0; slot < sorted.order.size(); ++slot)
      chunk[std::size_t(sorted.order[slot])] = std::int32_t(Index(slot) / rule.chunk);
    all.chunk.push_back(std::move(chunk));
    if (sorted_rule.same_bucket) all.bucket.emplace_back(buckets.begin(), buckets.end());
    if (sorted_rule.wrap && !sorted_rule.same_bucket)
      all.wrapped.push_back(std::int32_t(rule.last_chunk(buckets.size())));
  }
  return all;
}

}  // namespace weft::layers
