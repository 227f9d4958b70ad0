#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/ranks/ranks.h"
#include "core/ranks/slices.h"

namespace weft::core {

/// New values on their way from the ranks that own them to all others, bucket by bucket from the
/// front, so that a reader of the first ones need not wait for the last.
class SliceGather {
 public:
  SliceGather(Ranks& ranks, const Slices& slices) : ranks_(ranks), slices_(slices) {}

  /// Begins to move `values`, in which every rank has computed its slices. Nothing may be on its
  /// way, and nobody may write to them until it has arrived.
  void begin(std::span<Real> values);
  /// Waits until the numbers in front of `end` have come, and this rank's have been sent. May be
  /// called by several threads.
  void wait_for(Index end);
  void wait() { wait_for(nothing_missing - 1); }

 private:
  Ranks& ranks_;
  const Slices& slices_;
  std::atomic<Index> missing_from_{nothing_missing};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Transfer>> buckets_;  ///< guarded by the mutex, as is `arrived_`
  std::size_t arrived_ = 0;

  static constexpr Index nothing_missing = Index(1) << 62;
};

}  // namespace weft::core
