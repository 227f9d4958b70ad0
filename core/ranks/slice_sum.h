#pragma once

#include "core/ranks/ranks.h"
#include "core/ranks/slices.h"

namespace weft::core {

/// Adds the parts that all ranks hold of a sum over shards: each rank receives everyone's parts of
/// the slices it owns, and adds them by the tree. A rank sends what the others own of its parts,
/// once: with one part each, 1 - 1/ranks of the array.
class SliceSum {
 public:
  SliceSum(Ranks& ranks, const Slices& slices, Index shards);

  /// Begins to move a bucket of this rank's parts; all ranks begin buckets in one order.
  void begin(Index bucket, std::vector<TreeTerm<Real>> parts);
  /// Waits for the buckets begun, and leaves the sums of the slices this rank owns in `to`. The
  /// parts may be overwritten.
  void finish(std::span<Real> to);

 private:
  struct Moving {
    Index bucket;
    std::vector<TreeTerm<Real>> parts;  ///< this rank's
    std::vector<std::vector<Real>> received;
    std::unique_ptr<Transfer> transfer;
  };
  void add(Moving& moving, std::span<Real> to) const;

  Ranks& ranks_;
  const Slices& slices_;
  std::vector<std::vector<TreePart>> parts_;  ///< of every rank
  std::vector<Moving> moving_;
};

/// Of one number for each of some pieces of the array, ascending, each of which one rank owns:
/// every rank has those of its own and gets the others.
void share_pieces(Ranks& ranks, const Slices& slices, std::span<const Stretch> pieces,
                  std::span<double> numbers);

}  // namespace weft::core
