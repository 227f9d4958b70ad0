#pragma once

#include "core/arrays/gemm.h"
#include "layers/attention/lists/kernel.h"

namespace weft::layers {

/// Rows of one head of one sequence.
struct LaneRows {
  const Real* data;
  Index stride;
  const Real* operator[](Index token) const { return data + token * stride; }
};
struct WritableRows {
  Real* data;
  Index stride;
  Real* operator[](Index token) const { return data + token * stride; }
};

LaneRows lane_rows(const ListedProblem& problem, ConstHeads x, Index lane, Index length);
WritableRows lane_rows(const ListedProblem& problem, Heads x, Index lane, Index length);

/// panel[slot] = rows[tokens[slot]], and zeros up to `length` slots.
void gather(const LaneRows& rows, std::span<const std::int32_t> tokens, Real* panel, Index width,
            Index length);
/// rows[tokens[slot]] += panel[slot]
void scatter_add(const Real* panel, std::span<const std::int32_t> tokens, const WritableRows& rows,
                 Index width);
void fill_zero(const WritableRows& rows, Index count, Index width);

/// Which scores of a row count. Rows hold scores of a block's keys.
class RowFilter {
 public:
  explicit RowFilter(const TokenList& list);

  /// What a row reads of its block: columns [first, last), `count` of them admitted.
  struct Range {
    Index first, last, count;
  };
  /// Lowers what the row must not read so far that its weight is 0, and takes off the logarithm of
  /// how often a pair meets.
  Range admit(const TokenList::Block& block, Index query_slot, Real* scores) const;

 private:
  const TokenList& list_;
  std::vector<Real> positions_;  ///< of key slots, where a filter asks for them
};

/// How many slots each token of a list has.
std::vector<std::int32_t> slots_per_token(const TokenList& list, Index tokens);

}  // namespace weft::layers
