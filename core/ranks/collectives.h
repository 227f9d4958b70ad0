#pragma once

#include <string>
#include <type_traits>

#include "core/ranks/ranks.h"
#include "core/ranks/tree_sum.h"

namespace weft::core {

// Operations that all ranks call at the same place of the program, made of messages between pairs.

/// Every rank does its part of some work, which must not exchange messages. If it ends in an Error
/// on some of them, all throw EndedTogether, and the first of those reports it. Other exceptions
/// propagate on the rank where they occur.
void together(Ranks& ranks, const std::function<void()>& work);

/// Rank `from` gives its bytes to all.
void broadcast_bytes(Ranks& ranks, std::span<std::byte> bytes, Index from = 0);
std::string broadcast(Ranks& ranks, std::string text);
template <class Number>
void broadcast(Ranks& ranks, std::span<Number> numbers) {
  static_assert(std::is_trivially_copyable_v<Number>);
  broadcast_bytes(ranks, std::as_writable_bytes(numbers));
}

/// The largest of all ranks' numbers, in log2(ranks) rounds.
Index largest(Ranks& ranks, Index own);

/// Every rank's text, in the order of ranks; all ranks get all.
std::vector<std::string> gather(Ranks& ranks, const std::string& own);

/// Every rank has numbers [cuts[rank], cuts[rank + 1]) of an array and gets the others.
void gather_bytes(Ranks& ranks, std::span<std::byte> all, const std::vector<Index>& cuts);
template <class Number>
void gather(Ranks& ranks, std::span<Number> all, std::vector<Index> cuts) {
  static_assert(std::is_trivially_copyable_v<Number>);
  for (Index& cut : cuts) cut *= Index(sizeof(Number));
  gather_bytes(ranks, std::as_writable_bytes(all), cuts);
}

/// Adds what every rank has of each number.
void add_everywhere(Ranks& ranks, std::vector<Index>& numbers);

/// The sum over all shards of arrays of one size, by the tree; every rank gives the parts of its
/// own shards and gets the whole.
std::vector<Real> sum_everywhere(Ranks& ranks, const std::vector<TreeTerm<Real>>& own,
                                 Index shards);

}  // namespace weft::core
