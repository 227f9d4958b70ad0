#pragma once

#include <any>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "autograd/state.h"

namespace weft::autograd {

/// What one optimizer step remembers in addition to its tapes: discrete decisions, so that a replay
/// reads them back instead of deriving them again from rounded activations, penalties on
/// activations, and the statistics proposed to states, added up in the order of the micro-batches.
class Journal {
 public:
  /// The decision stored under `key`, or null.
  const std::any* find(std::uint64_t key) const;
  void store(std::uint64_t key, std::any decision);
  /// Decisions are of no use once their micro-batch has been swept.
  void forget_decisions() { decisions_.clear(); }

  /// Penalties on activations wait here, as a sum, until they join the loss.
  void charge(double penalty);
  bool has_charges() const { return charged_; }
  /// Their sum; the next pass begins at none.
  double take_charges();
  /// The loss's gradient at each penalty, set by the sweep where they joined the loss.
  core::Real penalty_gradient = 0;

  void propose(State& state, core::Tensor statistics);
  /// What the micro-batches so far have proposed to a state, or null.
  const core::Tensor* proposed(const State& state) const;
  /// Applies each state's rule once, in the order of first proposal. A skipped step does not call
  /// it.
  void commit();

 private:
  struct Proposal {
    State* state;
    core::Tensor statistics;
  };
  std::unordered_map<std::uint64_t, std::any> decisions_;
  std::vector<Proposal> proposals_;
  double charges_ = 0;
  bool charged_ = false;
};

}  // namespace weft::autograd
