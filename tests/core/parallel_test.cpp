#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/error.h"

namespace weft::core::parallel_test {
namespace {

class Parallel : public testing::Test {
 protected:
  void TearDown() override { set_threads(0); }
};

using Pieces = std::set<std::pair<Index, Index>>;

Pieces pieces_of(Index count, Index grain) {
  Pieces pieces;
  std::mutex mutex;
  parallel_for(count, grain, [&](Index begin, Index end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(pieces.insert({begin, end}).second);
  });
  return pieces;
}

TEST_F(Parallel, pieces_depend_on_count_and_grain_only) {
  for (const auto& [count, grain] : {std::pair<Index, Index>{1, 1}, {10, 3}, {1000, 7}, {64, 64}}) {
    Pieces expected;
    for (Index begin = 0; begin < count; begin += grain)
      expected.insert({begin, std::min(count, begin + grain)});
    for (const Index n : {1, 2, 3, 7}) {
      set_threads(n);
      EXPECT_EQ(pieces_of(count, grain), expected);
    }
  }
}

TEST_F(Parallel, does_nothing_for_no_elements) { EXPECT_TRUE(pieces_of(0, 5).empty()); }

TEST_F(Parallel, runs_on_as_many_threads_as_asked_for_even_beyond_the_cores) {
  for (const Index n : {1, 2, 5}) {
    set_threads(n);
    EXPECT_EQ(threads(), n);
    std::set<std::thread::id> seen;
    std::mutex mutex;
    std::condition_variable arrived;
    // Each of n pieces holds its thread until all n have come; none can run two of them.
    parallel_for(n, 1, [&](Index, Index) {
      std::unique_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
      arrived.notify_all();
      arrived.wait_for(lock, std::chrono::seconds(60), [&] { return Index(seen.size()) == n; });
    });
    EXPECT_EQ(Index(seen.size()), n);
  }
}

TEST_F(Parallel, never_runs_on_more_threads_than_asked_for) {
  for (const Index n : {1, 2, 3}) {
    set_threads(n);
    std::set<std::thread::id> seen;
    std::mutex mutex;
    parallel_for(300, 1, [&](Index, Index) {
      std::this_thread::yield();
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_LE(Index(seen.size()), n);
  }
}

TEST_F(Parallel, loops_nest) {
  set_threads(3);
  std::atomic<Index> total = 0;
  parallel_for(20, 1, [&](Index, Index) {
    parallel_for(30, 4, [&](Index begin, Index end) { total += end - begin; });
  });
  EXPECT_EQ(total, 600);
}

TEST_F(Parallel, hands_on_what_a_body_throws) {
  set_threads(3);
  const auto fail = [](Index begin, Index) {
    if (begin == 40) throw Error("piece 40");
  };
  EXPECT_THROW(parallel_for(100, 10, fail), Error);
  EXPECT_EQ(pieces_of(100, 10).size(), 10u);
}

TEST_F(Parallel, zero_means_what_slurm_gave_to_the_task_but_no_more_than_there_is) {
  set_threads(0);
  const Index all = threads();
  const std::pair<const char*, Index> given[] = {{"1", 1}, {"100000", all}, {"0", all}, {"x", all}};
  for (const auto& [text, expected] : given) {
    ::setenv("SLURM_CPUS_PER_TASK", text, 1);
    set_threads(0);
    EXPECT_EQ(threads(), expected) << text;
  }
  set_threads(3);
  EXPECT_EQ(threads(), 3) << "a number in the config is meant";
  ::unsetenv("SLURM_CPUS_PER_TASK");
}

TEST_F(Parallel, zero_means_all_cores_and_less_is_refused) {
  set_threads(0);
  EXPECT_GE(threads(), 1);
  EXPECT_THROW(set_threads(-1), Error);
}

TEST_F(Parallel, several_callers_may_run_loops_at_once) {
  set_threads(2);
  std::atomic<Index> total = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) parallel_for(16, 1, [&](Index, Index) { ++total; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 50 * 16);
}

TEST_F(Parallel, row_pieces_are_neither_tiny_nor_empty) {
  EXPECT_EQ(rows_per_piece(1), elementwise_grain);
  EXPECT_EQ(rows_per_piece(256) * 256, elementwise_grain);
  EXPECT_EQ(rows_per_piece(10 * elementwise_grain), 1);
  EXPECT_EQ(rows_per_piece(0), elementwise_grain);
}

}  // namespace
}  // namespace weft::core::parallel_test
