#pragma once

#include "core/arrays/gemm.h"
#include "layers/attention/lists/kernel.h"

namespace weft::layers {

/// panel[slot] = rows.row(tokens[slot]), and zeros up to `length` slots.
void gather(const core::ConstMatrix& rows, std::span<const std::int32_t> tokens, Real* panel,
            Index length);
/// rows.row(tokens[slot]) += panel[slot]
void scatter_add(const Real* panel, std::span<const std::int32_t> tokens, const core::Matrix& rows);
void fill_zero(const core::Matrix& rows);

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
