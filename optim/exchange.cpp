#include "optim/exchange.h"

#include <algorithm>
#include <limits>

namespace weft::optim {

using core::Index;

namespace {

constexpr Index unread = std::numeric_limits<Index>::max();

}  // namespace

Exchange::Exchange(core::Ranks& ranks, const core::Slices& slices, core::TreeSum& tree,
                   Index shards, autograd::ParameterArena& arena)
    : ranks_(ranks),
      slices_(slices),
      tree_(tree),
      arena_(arena),
      sum_(ranks, slices, shards),
      gather_(ranks, slices),
      first_read_(arena.slots().size()),
      complete_from_(std::size_t(slices.buckets())),
      left_(slices.buckets()) {}

std::span<core::Real> Exchange::gradients() {
  return arena_.gradients().first(std::size_t(arena_.dense_size()));
}

void Exchange::follow_last_pass() {
  restart();
  for (std::atomic<Index>& place : first_read_) place = unread;
  following_ = true;
}

void Exchange::before_read(Index parameter) {
  const auto& slot = arena_.slots()[std::size_t(parameter)];
  if (!slot.sparse) gather_.wait_for(slot.offset + slot.size);
  if (!following_) return;
  std::atomic<Index>& first = first_read_[std::size_t(parameter)];
  Index expected = unread;
  if (first == unread) first.compare_exchange_strong(expected, place());
}

/// A bucket is complete once the sweep has passed the first place that read one of its parameters.
/// Those that nobody read stay zero, but who knows: such a bucket waits for the end.
void Exchange::learn_readiness() {
  following_ = false;
  std::ranges::fill(complete_from_, unread);
  const auto& slots = arena_.slots();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].sparse) continue;
    const Index first = first_read_[i] == unread ? -1 : first_read_[i].load();
    for (Index b = 0; b < slices_.buckets(); ++b) {
      const core::Stretch bucket = slices_.bucket(b);
      if (slots[i].offset < bucket.end && bucket.begin < slots[i].offset + slots[i].size)
        complete_from_[std::size_t(b)] = std::min(complete_from_[std::size_t(b)], first);
    }
  }
}

void Exchange::swept(Index place) {
  if (following_) learn_readiness();
  while (left_ > 0 && complete_from_[std::size_t(left_ - 1)] >= place) begin_last();
}

void Exchange::begin_last() {
  const Index bucket = --left_;
  tree_.join_last(gradients(), slices_.bucket(bucket));
  sum_.begin(bucket, tree_.parts(gradients()));
}

void Exchange::begin_rest() {
  following_ = false;
  while (left_ > 0) begin_last();
}

void Exchange::finish() {
  sum_.finish(gradients());
  left_ = slices_.buckets();
}

}  // namespace weft::optim
