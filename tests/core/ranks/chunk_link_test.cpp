// Chunks of sequences, numbered in the order of a sweep, and what they send each other.
#include "core/ranks/chunk_link.h"

#include <gtest/gtest.h>

#include "core/counters.h"
#include "core/ranks/traffic.h"
#include "core/ranks/tree_sum.h"
#include "tests/ranks_in_threads.h"

namespace weft::core::chunk_link_test {
namespace {

TEST(ChunkUnits, number_the_chunks_of_each_shard_from_the_right) {
  const ChunkUnits units{2, 3};
  std::vector<std::pair<Index, Index>> found;
  for (Index unit = 0; unit < units.count(); ++unit) {
    found.emplace_back(units.shard_of(unit), units.chunk_of(unit));
    EXPECT_EQ(units.unit(units.shard_of(unit), units.chunk_of(unit)), unit);
  }
  EXPECT_EQ(found,
            (std::vector<std::pair<Index, Index>>{{0, 2}, {0, 1}, {0, 0}, {1, 2}, {1, 1}, {1, 0}}));
  EXPECT_EQ(units.shards_of({1, 4}), (Stretch{0, 2}));
  EXPECT_EQ(units.units_in(0, {1, 4}), (Stretch{1, 3}));
  EXPECT_EQ(units.units_in(1, {1, 4}), (Stretch{3, 4}));
}

TEST(ChunkCut, covers_all_columns_once) {
  for (const Index length : {5, 64, 1000})
    for (const Index count : {1, 2, 3, 5}) {
      Index next = 0;
      for (Index chunk = 0; chunk < count; ++chunk) {
        const Stretch own = ChunkCut{length, count}.of(chunk);
        EXPECT_EQ(own.begin, next);
        EXPECT_GE(own.size(), length / count);
        next = own.end;
      }
      EXPECT_EQ(next, length);
    }
}

/// A message's numbers, which say where it comes from.
std::vector<Real> message(Index shard, Index from, Index to, Index number) {
  return {Real(shard), Real(from), Real(to), Real(number)};
}

// Each chunk sends to all on its right twice over, layer by layer, and then back: several chunks of
// a rank read their messages one chunk after another.
void trade(Ranks& ranks, const ChunkUnits& units) {
  ChunkLink link(ranks, units);
  const Stretch own = shards_of(ranks.rank(), ranks.count(), units.count());
  const auto exchange = [&](Index shard, Index chunk, Index direction) {
    const auto is_ahead = [&](Index other) { return (other - chunk) * direction > 0; };
    for (const Index layer : {0, 1}) {
      for (Index to = 0; to < units.chunks; ++to)
        if (is_ahead(to)) link.send(chunk, to, message(shard, chunk, to, layer));
      for (Index from = 0; from < units.chunks; ++from) {
        if (from == chunk || is_ahead(from)) continue;
        std::vector<Real> found(4);
        link.receive(from, chunk, found);
        EXPECT_EQ(found, message(shard, from, chunk, layer));
      }
    }
  };
  const Stretch shards = units.shards_of(own);
  for (Index shard = shards.begin; shard < shards.end; ++shard) {
    link.enter(shard);
    const Stretch mine = units.units_in(shard, own);
    for (Index unit = mine.end; unit-- > mine.begin;) exchange(shard, units.chunk_of(unit), 1);
    for (Index unit = mine.begin; unit < mine.end; ++unit)
      exchange(shard, units.chunk_of(unit), -1);
  }
  link.finish();
}

TEST(ChunkLink, brings_each_chunk_its_messages_in_order_at_any_number_of_ranks) {
  for (const ChunkUnits units : {ChunkUnits{1, 4}, ChunkUnits{3, 3}, ChunkUnits{2, 5}})
    for (Index ranks = 1; ranks <= units.count(); ++ranks)
      RanksInThreads::run(ranks, [&](Ranks& own) { trade(own, units); });
}

TEST(ChunkLink, sends_between_ranks_alone_what_the_closed_form_says) {
  const ChunkUnits units{2, 4};
  const std::vector<Traffic> between(16, {2 * 4 * Index(sizeof(Real)), 2});
  for (Index ranks = 1; ranks <= units.count(); ++ranks) {
    const Index bytes = counters().sent_bytes, messages = counters().messages;
    RanksInThreads::run(ranks, [&](Ranks& own) { trade(own, units); });
    Traffic expected;
    for (Index r = 0; r < ranks; ++r) expected += traffic_of_chunks(units, r, ranks, between);
    EXPECT_EQ(counters().sent_bytes - bytes, expected.bytes) << ranks;
    EXPECT_EQ(counters().messages - messages, expected.messages) << ranks;
  }
}

TEST(ChunkLink, says_who_waits_for_what_was_not_sent) {
  ChunkLink link(one_rank(), {1, 2});
  link.enter(0);
  std::vector<Real> numbers(3);
  EXPECT_THROW(link.receive(0, 1, numbers), Error);
  link.send(0, 1, std::vector<Real>(2));
  EXPECT_THROW(link.receive(0, 1, numbers), Error);
}

}  // namespace
}  // namespace weft::core::chunk_link_test
