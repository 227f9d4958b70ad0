#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "core/ranks/chunk_cut.h"
#include "core/ranks/ranks.h"

namespace weft::core {

/// Carries numbers between the chunks of a row shard, which may be on one rank or on several. What
/// a chunk sends to another arrives in the order in which it was sent.
class ChunkLink {
 public:
  ChunkLink(Ranks& ranks, const ChunkUnits& units) : ranks_(ranks), units_(units) {}
  ChunkLink(const ChunkLink&) = delete;
  ChunkLink& operator=(const ChunkLink&) = delete;
  ~ChunkLink();

  /// From now on chunks are those of this row shard. Drops what nobody received.
  void enter(Index shard);
  /// Copies the numbers and returns at once.
  void send(Index from, Index to, std::span<const Real> numbers);
  /// Waits for as many.
  void receive(Index from, Index to, std::span<Real> numbers);
  /// Waits until all that was sent has been received by other ranks.
  void finish();

 private:
  struct Message {
    std::shared_ptr<Real> numbers;
    Index size;
  };
  struct Sent {
    Message message;
    std::unique_ptr<Transfer> transfer;
  };
  Index owner(Index chunk) const;
  int channel(Index from, Index to) const;

  Ranks& ranks_;
  ChunkUnits units_;
  Index shard_ = 0;
  /// Of (from, to) where both are on this rank, the oldest first.
  std::map<std::pair<Index, Index>, std::deque<Message>> own_;
  std::deque<Sent> sent_;
};

}  // namespace weft::core
