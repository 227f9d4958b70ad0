#include "layers/attention/lists/token_list.h"

#include <algorithm>

#include "layers/attention/lists/group_sort.h"

// Letters: m tokens a chunk; g a group (a bucket or a cluster); rank, a token's place in its group;
// slot, its place in the list. A token of rank r is in chunk c = r / m and reads the ranks
//   [max(0, c - 1) m, end),  end = min(size, (c + 1) m), or in causal order r, r + 1 with itself.
namespace weft::layers {
namespace {

using Filter = TokenList::Filter;

/// Rows of one group whose keys begin with the same chunk, in blocks whose shapes follow from the
/// rows' ranks alone. `trim` cuts the keys where the last row's could end.
void cut_causal(const ListRule& rule, TokenList& list, Index query, Index count, Index key,
                Index keys_before, bool trim) {
  const Index step = rule.block_rows();
  for (Index r = 0; r < count; r += step) {
    const Index rows = trim ? std::min(step, rule.chunk - r) : step;
    const Index own = trim ? r + rows : rule.chunk;
    list.blocks.push_back({query + r, std::min(rows, count - r), rows, key, keys_before + own});
  }
}

}  // namespace

/// The sum over chunks of own x before + own (own - 1), the latter halved in causal order, + own
/// where tokens read themselves.
Index most_pairs(const ListRule& rule, Index n) {
  Index pairs = 0;
  for (Index start = 0; start < n; start += rule.chunk) {
    const Index own = std::min(rule.chunk, n - start), before = std::min(start, rule.chunk);
    pairs += own * before + (rule.causal ? own * (own - 1) / 2 : own * (own - 1));
    if (rule.reads_self) pairs += own;
  }
  return pairs;
}

/// Grows a block row by row while its keys [key, end) stay few; a group that shares no key with the
/// rows so far may join a block that is still small.
std::vector<TokenList::Block> exact_blocks(const TokenList& list, Index most_rows,
                                           Index most_keys) {
  constexpr Index small = 16;  // rows below which a product is worth widening over groups
  std::vector<TokenList::Block> blocks;
  const Index rows = Index(list.queries.size());
  for (Index r = 0; r < rows;) {
    const Index begin = r, key = list.first[std::size_t(r)];
    Index end = key;
    for (; r < rows && r - begin < most_rows; ++r) {
      const Index last = std::max<Index>(end, list.last[std::size_t(r)]);
      const bool new_group = r > begin && list.first[std::size_t(r)] >= end;
      if (last - key > most_keys || (new_group && r - begin >= small)) break;
      end = last;
    }
    blocks.push_back({begin, r - begin, r - begin, key, end - key});
  }
  return blocks;
}

/// Slots of group g are start[g] + rank: ranks become key slots by adding the group's start.
TokenList aligned_list(const ListRule& rule, std::span<const std::uint16_t> groups,
                       Index group_count) {
  GroupSort sorted = sort_by_group(groups, group_count);
  TokenList list;
  const Index m = rule.chunk;
  list.first.resize(groups.size());
  list.last.resize(groups.size());
  for (std::size_t g = 0; g < std::size_t(group_count); ++g) {
    const Index start = sorted.start[g], size = sorted.start[g + 1] - start;
    for (Index chunk = 0; chunk < size; chunk += m) {
      const Index end = std::min(size, chunk + m), from = std::max<Index>(0, chunk - m);
      for (Index rank = chunk; rank < end; ++rank) {
        list.first[std::size_t(start + rank)] = std::int32_t(start + from);
        list.last[std::size_t(start + rank)] =
            std::int32_t(start + (rule.causal ? rank + rule.reads_self : end));
      }
      if (rule.causal)
        cut_causal(rule, list, start + chunk, end - chunk, start + from, chunk - from, true);
    }
  }
  if (!rule.causal && !rule.reads_self) list.filter = Filter::self;
  list.queries = sorted.order;
  list.keys = std::move(sorted.order);
  if (!rule.causal) list.blocks = exact_blocks(list, rule.block_rows(), 2 * m);
  return list;
}

/// A query has no rank among the keys: it takes that of the last key of its group at or before its
/// position, seen - 1, so that its chunk is c = max(0, seen - 1) / m.
TokenList aligned_list(const ListRule& rule, std::span<const std::uint16_t> query_groups,
                       std::span<const std::uint16_t> key_groups, Index offset, Index group_count) {
  GroupSort queries = sort_by_group(query_groups, group_count),
            keys = sort_by_group(key_groups, group_count);
  TokenList list;
  const Index m = rule.chunk;
  list.offset = offset;
  for (std::size_t g = 0; g < std::size_t(group_count); ++g) {
    const Index start = keys.start[g], size = keys.start[g + 1] - start;
    Index seen = 0, same = 0, from = 0;  // rows in a row whose keys begin at `from`
    const auto close = [&](Index slot) {
      if (rule.causal && same > 0)
        cut_causal(rule, list, slot - same, same, start + from, m, false);
      same = 0;
    };
    for (Index slot = queries.start[g]; slot < queries.start[g + 1]; ++slot) {
      const Index position = queries.order[std::size_t(slot)] + list.offset;
      while (seen < size && keys.order[std::size_t(start + seen)] <= position) ++seen;
      const Index c = std::max<Index>(0, seen - 1) / m;
      const Index last = rule.causal ? seen : std::min(size, (c + 1) * m);
      if (std::max<Index>(0, c - 1) * m != from) close(slot);
      from = std::max<Index>(0, c - 1) * m;
      ++same;
      list.first.push_back(std::int32_t(start + from));
      list.last.push_back(std::int32_t(start + last));
    }
    close(queries.start[g + 1]);
  }
  list.queries = std::move(queries.order);
  list.keys = std::move(keys.order);
  if (!rule.causal) list.blocks = exact_blocks(list, rule.block_rows(), 2 * m);
  return list;
}

/// Chunks run over slots: slot s is in chunk c = s / m and reads the slots [(c - 1) m, (c + 1) m).
/// With `wrap` the keys begin with the last chunk of the round before, `front` of them, which chunk
/// 0 reads as its predecessor.
TokenList sorted_list(const ListRule& rule, const SortedRule& sorted_rule,
                      std::span<const std::uint16_t> buckets, std::span<const std::uint16_t> before,
                      Index bucket_count) {
  const GroupSort sorted = sort_by_group(buckets, bucket_count);
  const Index m = rule.chunk, n = Index(buckets.size());
  TokenList list;
  if (sorted_rule.wrap && n > 0) {
    const std::vector<std::int32_t> end = sort_by_group(before, bucket_count).order;
    list.keys.assign(end.begin() + rule.last_chunk(end.size()) * m, end.end());
  }
  const Index front = Index(list.keys.size());
  list.keys.insert(list.keys.end(), sorted.order.begin(), sorted.order.end());
  list.queries = sorted.order;
  for (Index slot = 0; slot < n; ++slot) {
    const Index c = slot / m;
    Index first = c > 0 ? front + (c - 1) * m : 0, last = front + std::min(n, (c + 1) * m);
    if (sorted_rule.same_bucket) {
      const auto g = std::size_t(buckets[std::size_t(sorted.order[std::size_t(slot)])]);
      first = std::max<Index>(first, front + sorted.start[g]);
      last = std::min<Index>(last, front + sorted.start[g + 1]);
    }
    list.first.push_back(std::int32_t(first));
    list.last.push_back(std::int32_t(last));
  }
  for (Index start = 0; start < n; start += m) {
    const Index key = start > 0 ? front + start - m : 0, end = std::min(n, start + m);
    for (Index r = start; r < end; r += rule.block_rows())
      list.blocks.push_back({r, std::min(rule.block_rows(), end - r),
                             std::min(rule.block_rows(), end - r), key, front + end - key});
  }
  if (rule.causal)
    list.filter = rule.reads_self ? Filter::later : Filter::self_and_later;
  else if (!rule.reads_self)
    list.filter = Filter::self;
  return list;
}

/// Set s has query slots [s rows, (s + 1) rows) and key slots [s columns, (s + 1) columns), both by
/// position: in causal order a query reads the keys below its position, or up to it.
TokenList set_list(const ListRule& rule, std::span<const std::uint32_t> queries,
                   std::span<const std::uint32_t> keys, Index sets, Index offset) {
  TokenList list;
  list.offset = offset;
  list.queries.assign(queries.begin(), queries.end());
  list.keys.assign(keys.begin(), keys.end());
  const Index rows = Index(queries.size()) / sets, columns = Index(keys.size()) / sets;
  for (Index s = 0; s < sets; ++s) {
    const auto own = keys.subspan(std::size_t(s * columns), std::size_t(columns));
    for (Index r = 0; r < rows; ++r) {
      const Index position = Index(queries[std::size_t(s * rows + r)]) + offset;
      const Index reach = position + (rule.reads_self ? 1 : 0);
      const auto edge = std::ranges::lower_bound(own, reach, {}, [](auto k) { return Index(k); });
      list.first.push_back(std::int32_t(s * columns));
      list.last.push_back(std::int32_t(s * columns + (rule.causal ? edge - own.begin() : columns)));
    }
    for (Index r = 0; r < rows; r += ListRule::most_rows) {
      const Index count = std::min(ListRule::most_rows, rows - r);
      list.blocks.push_back({s * rows + r, count, count, s * columns, columns});
    }
  }
  if (!rule.causal && !rule.reads_self) list.filter = Filter::self;
  return list;
}

}  // namespace weft::layers
