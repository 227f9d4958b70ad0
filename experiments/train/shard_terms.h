#pragma once

#include <string>
#include <vector>

#include "autograd/inventory.h"
#include "autograd/journal.h"
#include "autograd/parameter_arena.h"
#include "core/ranks/collectives.h"

namespace weft::experiments {

using core::Index;
using core::Real;

/// What a sum over some of a step's shards has in addition to the gradients of dense parameters.
/// Most of it may be missing: a shard proposes nothing to some states and touches few rows.
struct ShardTerm {
  /// Gradients of the touched rows of a row-sparse parameter, ascending.
  struct Rows {
    std::vector<Index> rows;
    std::vector<Real> gradients;
  };
  core::TreePart part;
  double loss = 0;
  std::vector<std::vector<Real>> statistics;  ///< for each state; empty: none
  std::vector<Rows> sparse;                   ///< for each row-sparse parameter
};

/// to += from, the later of two.
void add_term(ShardTerm& to, const ShardTerm& from);

/// The terms of a step's shards, joined by the tree as they end, on one rank and then over all.
class ShardTerms {
 public:
  ShardTerms(const autograd::Inventory& inventory, autograd::ParameterArena& arena)
      : inventory_(inventory), arena_(arena) {}

  void restart() { terms_.clear(); }
  /// Takes what the journal has of states and the arena of row-sparse gradients.
  void take(Index shard, double loss, const autograd::Journal& journal);
  /// The sum over the shards of all ranks: leaves row-sparse gradients in the arena, returns the
  /// loss. Statistics wait for `commit`.
  double join(core::Ranks& ranks);
  /// Applies each state's rule once.
  void commit();

 private:
  std::vector<const autograd::ParameterArena::Slot*> sparse_slots() const;
  void put_rows(const ShardTerm& sum);

  const autograd::Inventory& inventory_;
  autograd::ParameterArena& arena_;
  std::vector<ShardTerm> terms_;
};

}  // namespace weft::experiments
