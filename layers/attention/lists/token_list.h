#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/real.h"

namespace weft::layers {

using core::Index;

struct Encounters;

/// Tokens of one head in an order in which those that attend to each other are neighbours.
/// Token t of the queries has position t + `offset` among the keys.
struct TokenList {
  std::vector<std::int32_t> queries, keys;  ///< slot -> token
  /// Of each query slot: the key slots [first, last) that it may read.
  std::vector<std::int32_t> first, last;

  /// Query slots [query, query + queries) read within key slots [key, key + keys). The product
  /// has `rows` rows and `keys` columns, which may reach beyond the list's end: where a whole pass
  /// must not show what comes later, shapes depend on earlier tokens only.
  struct Block {
    Index query, queries, rows, key, keys;
  };
  std::vector<Block> blocks;

  /// What keeps a row from reading a slot inside its range.
  enum class Filter {
    none,
    later,  ///< keys after the query
    self_and_later,
    self,
  };
  Filter filter = Filter::none;
  Index offset = 0;
  std::shared_ptr<const Encounters> encounters = nullptr;  ///< null: every round counts
};

/// How lists are laid out.
struct ListRule {
  Index chunk = 0;  ///< m
  bool causal = true;
  bool reads_self = false;  ///< else a token reads itself only when nothing else is there

  /// Rows of a block; its keys are at most two chunks.
  static constexpr Index most_rows = 32;
  Index block_rows() const { return chunk < most_rows ? chunk : most_rows; }
  /// The number of the chunk that the last of some tokens is in, 0 for none.
  Index last_chunk(std::size_t tokens) const { return tokens == 0 ? 0 : Index(tokens - 1) / chunk; }
};

/// The most pairs that n tokens can form when each reads its own chunk and the one before: those of
/// one list in order of position.
Index most_pairs(const ListRule& rule, Index n);

/// The list's rows in blocks of exact shape, for passes over the whole that hide nothing: up to
/// `most_rows` rows and `most_keys` keys, small groups of tokens together.
std::vector<TokenList::Block> exact_blocks(const TokenList& list, Index most_rows, Index most_keys);

/// Tokens by group, in order of position, chunks of m aligned to each group's start: a query reads
/// its own chunk of its group and the one before. Which keys it reads depends on keys up to its own
/// position only.
TokenList aligned_list(const ListRule& rule, std::span<const std::uint16_t> groups,
                       Index group_count);
/// The same with queries and keys that are different tokens: a query's chunk is that of its group's
/// last key up to its position.
TokenList aligned_list(const ListRule& rule, std::span<const std::uint16_t> query_groups,
                       std::span<const std::uint16_t> key_groups, Index offset, Index group_count);

/// Settings of `sorted_list` in addition to those of every list.
struct SortedRule {
  bool same_bucket = false;  ///< read only keys of the query's own bucket
  bool wrap = false;         ///< a round's first chunk reads the last chunk of the round before
};

/// Tokens by bucket, then position, cut into chunks of m across buckets; a chunk reads itself and
/// the chunk before. `before` holds the buckets of the round before, the last one for the first.
TokenList sorted_list(const ListRule& rule, const SortedRule& sorted,
                      std::span<const std::uint16_t> buckets, std::span<const std::uint16_t> before,
                      Index bucket_count);

/// Sets of tokens that attend to each other, each set ascending; a token may be in several.
/// queries: [sets, per_set], keys: [sets, keys_per_set]
TokenList set_list(const ListRule& rule, std::span<const std::uint32_t> queries,
                   std::span<const std::uint32_t> keys, Index sets, Index offset);

}  // namespace weft::layers
