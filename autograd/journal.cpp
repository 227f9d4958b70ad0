#include "autograd/journal.h"

#include <utility>

namespace weft::autograd {

const std::any* Journal::find(std::uint64_t key) const {
  const auto found = decisions_.find(key);
  return found == decisions_.end() ? nullptr : &found->second;
}

void Journal::store(std::uint64_t key, std::any decision) {
  decisions_.insert_or_assign(key, std::move(decision));
}

void Journal::charge(double penalty) {
  charges_ += penalty;
  charged_ = true;
}

double Journal::take_charges() {
  charged_ = false;
  penalty_gradient = 0;
  return std::exchange(charges_, 0);
}

void Journal::propose(State& state, core::Tensor statistics) {
  for (Proposal& earlier : proposals_)
    if (earlier.state == &state) return core::accumulate(earlier.statistics, statistics);
  proposals_.push_back({&state, std::move(statistics)});
}

const core::Tensor* Journal::proposed(const State& state) const {
  for (const Proposal& proposal : proposals_)
    if (proposal.state == &state) return &proposal.statistics;
  return nullptr;
}

void Journal::commit() {
  for (const Proposal& proposal : proposals_) proposal.state->absorb(proposal.statistics);
  proposals_.clear();
}

}  // namespace weft::autograd
