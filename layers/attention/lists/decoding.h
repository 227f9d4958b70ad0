#pragma once

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// Keys and values so far and the lists that tokens are in, of one sequence.
struct MemberCache final : CopiedState<MemberCache> {
  std::vector<Real> keys, values;                  ///< [t, H D]
  std::vector<std::vector<std::int32_t>> members;  ///< tokens of each list, in order

  Index bytes() const override;
};

/// Appends what the next token of a list reads to `read`: its own chunk and the one before.
/// `rank` is the token's place in the list, which may already hold it.
void read_list(const std::vector<std::int32_t>& list, Index rank, Index chunk,
               std::vector<std::int32_t>& read);

/// One head of one token. `first` is the head's first column in rows of `row` numbers; a query that
/// reads nothing gives the value of `fallback`, or zeros when that is negative.
struct MemberQuery {
  const Real* q;
  Index first, width, row;
  Real scale;
  Index fallback;
};
void attend_members(const MemberCache& cache, const MemberQuery& query,
                    const std::vector<std::int32_t>& read, Real* out);

/// The projections so far, for a mechanism in which each token may change what all others read.
struct PrefixCache final : CopiedState<PrefixCache> {
  std::vector<std::vector<Real>> blocks;  ///< [t, H D] of each projection

  Index bytes() const override;
};

/// Attends over the whole prefix again and takes its last row.
void step_over_prefix(const Attention& attention, PrefixCache& cache, const StepInput& input,
                      std::span<Real> out);

}  // namespace weft::layers
