#include "core/ranks/chunk_link.h"

#include <algorithm>

#include "core/error.h"
#include "core/memory.h"
#include "core/ranks/tree_sum.h"

namespace weft::core {

Stretch ChunkUnits::units_in(Index shard, Stretch units) const {
  return {std::max(units.begin, shard * chunks), std::min(units.end, (shard + 1) * chunks)};
}

/// Each pair of chunks has a channel of its own: several chunks of a rank are run one after
/// another, and must not get each other's messages.
int ChunkLink::channel(Index from, Index to) const {
  return first_urgent_channel + int(from * units_.chunks + to);
}

Index ChunkLink::owner(Index chunk) const {
  const Index unit = units_.unit(shard_, chunk), ranks = ranks_.count();
  Index rank = 0;
  while (weft::core::shards_of(rank, ranks, units_.count()).end <= unit) ++rank;
  return rank;
}

void ChunkLink::enter(Index shard) {
  shard_ = shard;
  own_.clear();
}

void ChunkLink::send(Index from, Index to, std::span<const Real> numbers) {
  while (!sent_.empty() && sent_.front().transfer->done()) sent_.pop_front();
  Message message{allocate(Index(numbers.size())), Index(numbers.size())};
  std::ranges::copy(numbers, message.numbers.get());
  const Index rank = owner(to);
  if (rank == ranks_.rank()) {
    own_[{from, to}].push_back(std::move(message));
    return;
  }
  const std::span<const Real> kept(message.numbers.get(), numbers.size());
  auto transfer = ranks_.begin({{rank, std::as_bytes(kept)}}, {}, channel(from, to));
  sent_.push_back({std::move(message), std::move(transfer)});
}

void ChunkLink::receive(Index from, Index to, std::span<Real> numbers) {
  const Index rank = owner(from);
  if (rank != ranks_.rank()) {
    ranks_.exchange({}, {{rank, std::as_writable_bytes(numbers)}}, channel(from, to));
    return;
  }
  auto& box = own_[{from, to}];
  require(!box.empty() && box.front().size == Index(numbers.size()), "chunks: chunk ", to,
          " waits for ", numbers.size(), " numbers of chunk ", from, ", which has ",
          box.empty() ? "sent none" : "sent others");
  std::copy_n(box.front().numbers.get(), numbers.size(), numbers.begin());
  box.pop_front();
}

/// After an error messages may be on their way to ranks that wait for this one: they are abandoned
/// where they are, as a wait would have no end.
ChunkLink::~ChunkLink() {
  if (std::ranges::all_of(sent_, [](const Sent& one) { return one.transfer->done(); })) return;
  auto* abandoned = new std::deque<Sent>(std::move(sent_));
  static_cast<void>(abandoned);
}

void ChunkLink::finish() {
  for (Sent& one : sent_) one.transfer->wait();
  sent_.clear();
}

}  // namespace weft::core
