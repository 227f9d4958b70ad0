#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/stretch.h"

namespace weft::core {

/// The shards of one of `ranks` ranks: [rank * shards / ranks, (rank + 1) * shards / ranks).
Stretch shards_of(Index rank, Index ranks, Index shards);

/// A whole subtree of a sum over shards: the 2^level of them from index * 2^level on.
struct TreePart {
  Index level = 0, index = 0;
  Index begin() const { return index << level; }
  Index end() const { return (index + 1) << level; }
  /// Whether they are the two halves of a larger part.
  bool joins(const TreePart& next) const {
    return level == next.level && index % 2 == 0 && next.index == index + 1;
  }
  bool operator==(const TreePart&) const = default;
};

/// The fewest parts that cover a stretch of shards, in order.
std::vector<TreePart> parts_of(Stretch shards);

/// Appends the sum of the next part to those before it, and joins what the tree allows: by
/// add(to, from), which adds the later of two. An item has its part as `part`.
template <class Item, class Add>
void push_part(std::vector<Item>& items, Item next, const Add& add) {
  items.push_back(std::move(next));
  while (items.size() > 1 && items[items.size() - 2].part.joins(items.back().part)) {
    add(items[items.size() - 2], items.back());
    items.pop_back();
    TreePart& part = items.back().part;
    part = {part.level + 1, part.index / 2};
  }
}

/// Joins the rest, from the right, once all shards have been appended.
template <class Item, class Add>
Item join_all(std::vector<Item> items, const Add& add) {
  for (; items.size() > 1; items.pop_back()) add(items[items.size() - 2], items.back());
  return std::move(items.front());
}

/// A part and its sum.
template <class Number>
struct TreeTerm {
  TreePart part;
  std::span<Number> sum;
};

/// to += from, counted as added terms.
void add_terms(std::span<const Real> from, std::span<Real> to);

/// The sum of all shards, bracketed as a binary tree over their numbers: a sum of n is that of the
/// first m and that of the others, m the largest power of two below n. The parts cover all shards,
/// in order; how they were cut does not change a bit of the result, which takes the place of the
/// first one. The others are overwritten.
std::span<Real> add_by_tree(std::vector<TreeTerm<Real>> parts);
double add_by_tree(std::span<const double> shards);

/// The terms of one rank's shards as they end, one after another, added as far as the tree allows.
class TreeSum {
 public:
  explicit TreeSum(Stretch shards) : shards_(shards) {}

  /// Takes the term of the next shard out of `values`, which the caller fills anew; that of the
  /// last one stays there, with what could be added to it.
  void take(std::span<Real> values);
  /// Joins the part that [begin, end) of the last shard's values ends: for those who send values
  /// in pieces. The shard is not taken then.
  void join_last(std::span<Real> values, Stretch piece);
  bool at_last() const { return next_ == shards_.end - 1; }

  /// All parts of this rank, in order; `values` holds the last.
  std::vector<TreeTerm<Real>> parts(std::span<Real> values);

  /// Begins again; keeps the memory.
  void restart();
  /// Arrays that hold unfinished sums.
  Index arrays() const { return Index(pending_.size() + free_.size()); }

 private:
  struct Pending {
    TreePart part;
    std::vector<Real> sum;
  };
  /// How many of the pending parts the next shard's term joins, the latest first.
  std::size_t joined() const;
  void put_aside(std::span<const Real> values, TreePart part);

  Stretch shards_;
  Index next_ = shards_.begin;
  std::vector<Pending> pending_;
  std::vector<std::vector<Real>> free_;
  TreePart last_;  ///< what `values` holds in the end
};

}  // namespace weft::core
