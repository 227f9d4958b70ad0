#include "core/ranks/slice_gather.h"

#include "core/error.h"

namespace weft::core {
namespace {

/// By itself, since sums of the next step may be on their way too.
constexpr int gather_channel = 2;

}  // namespace

void SliceGather::begin(std::span<Real> values) {
  if (ranks_.alone()) return;
  const std::lock_guard lock(mutex_);
  require(arrived_ == buckets_.size(), "gather: values are still on their way");
  buckets_.clear();
  arrived_ = 0;
  const Index count = ranks_.count(), own = ranks_.rank();
  for (Index b = 0; b < slices_.buckets(); ++b) {
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (Index away = 1; away < count; ++away) {
      const Index to = (own + away) % count, from = (own - away + count) % count;
      if (const Stretch mine = slices_.of(b, own); mine.size() > 0)
        out.push_back({to, std::as_bytes(numbers_of(values, mine))});
      if (const Stretch theirs = slices_.of(b, from); theirs.size() > 0)
        in.push_back({from, std::as_writable_bytes(numbers_of(values, theirs))});
    }
    buckets_.push_back(ranks_.begin(std::move(out), std::move(in), gather_channel));
  }
  missing_from_ = 0;
}

void SliceGather::wait_for(Index end) {
  if (end <= missing_from_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  while (arrived_ < buckets_.size() && slices_.bucket(Index(arrived_)).begin < end) {
    buckets_[arrived_]->wait();
    const Index reached = slices_.bucket(Index(arrived_)).end;
    ++arrived_;
    missing_from_.store(arrived_ < buckets_.size() ? reached : nothing_missing,
                        std::memory_order_release);
  }
}

}  // namespace weft::core
