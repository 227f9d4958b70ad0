#pragma once

#include <atomic>
#include <vector>

#include "autograd/parameter_arena.h"
#include "autograd/pass_watch.h"
#include "core/ranks/slice_gather.h"
#include "core/ranks/slice_sum.h"
#include "optim/sharing.h"

namespace weft::optim {

/// What ranks exchange of dense parameters in a step, while they compute. A bucket of gradients
/// is sent as soon as the sweep of the rank's last shard has completed it; the new values of a
/// bucket are waited for when the next pass first reads one of them. What is sent, and the order of
/// additions, does not depend on when.
class Exchange final : public autograd::PassWatch {
 public:
  /// `tree` takes the terms of this rank's shards, but for the last one. All must outlive this.
  Exchange(core::Ranks& ranks, const core::Slices& slices, core::TreeSum& tree, core::Index shards,
           autograd::ParameterArena& arena);

  Sharing sharing() { return {&ranks_, &slices_, &gather_}; }

  /// The next pass is the last of the step, and its tape has this as its watch.
  void follow_last_pass();
  /// No sweep adds to gradients any more: sends the buckets that have not been sent.
  void begin_rest();
  /// Waits, and leaves the sums over all shards in the slices of the gradients that this rank owns.
  void finish();

  void before_read(core::Index parameter) override;
  void before_values() override { gather_.wait(); }
  void swept(core::Index place) override;

 private:
  std::span<core::Real> gradients();
  void learn_readiness();
  void begin_last();

  core::Ranks& ranks_;
  const core::Slices& slices_;
  core::TreeSum& tree_;
  autograd::ParameterArena& arena_;
  core::SliceSum sum_;
  core::SliceGather gather_;
  bool following_ = false;                            ///< a pass that has not been swept
  std::vector<std::atomic<core::Index>> first_read_;  ///< the place, for each parameter
  std::vector<core::Index> complete_from_;            ///< the place, for each bucket
  core::Index left_;                                  ///< buckets to send, the last one first
};

}  // namespace weft::optim
