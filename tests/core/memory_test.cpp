#include "core/memory.h"

#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "core/out_of_memory.h"
#include "core/scope.h"

namespace weft::core::memory_test {
namespace {

constexpr Index count = 50001;
constexpr Index asked = count * Index(sizeof(Real));

/// Nothing kept and all counts at their start.
MemoryUse fresh_start() {
  trim_memory();
  reset_memory_peak();
  return memory_use();
}

TEST(Memory, counts_what_is_live_and_the_most_that_ever_was) {
  const MemoryUse start = fresh_start();
  {
    const auto a = allocate(count);
    { const auto b = allocate(2 * count); }
    const MemoryUse during = memory_use();
    EXPECT_GE(during.live - start.live, asked);
    EXPECT_LE(during.live - start.live, asked * 9 / 8 + 64);
    EXPECT_GE(during.peak - start.live, 3 * asked);
    EXPECT_GE(during.largest, 2 * asked);
    EXPECT_LE(during.largest, 2 * asked * 9 / 8 + 64);
    EXPECT_EQ(during.fresh, 2);
  }
  EXPECT_EQ(memory_use().live, start.live);
}

TEST(Memory, serves_a_second_identical_round_from_what_it_kept) {
  fresh_start();
  const auto round = [] {
    std::vector<std::shared_ptr<Real>> blocks;
    for (Index i = 1; i < 40; ++i) blocks.push_back(allocate(i * i * 97));
  };
  round();
  const MemoryUse first = memory_use();
  EXPECT_GT(first.fresh, 0);
  reset_memory_peak();
  round();
  const MemoryUse second = memory_use();
  EXPECT_EQ(second.fresh, 0);
  EXPECT_EQ(second.held, first.held);
  EXPECT_EQ(second.peak, first.peak);
}

TEST(Memory, reset_lowers_the_peak_to_what_is_live) {
  const MemoryUse start = fresh_start();
  const auto kept = allocate(count);
  { const auto gone = allocate(count); }
  reset_memory_peak();
  const MemoryUse after = memory_use();
  EXPECT_EQ(after.peak, after.live);
  EXPECT_GE(after.live, start.live + asked);
  EXPECT_EQ(after.largest, 0);
  EXPECT_EQ(after.fresh, 0);
}

TEST(Memory, is_attributed_to_the_scope_that_allocated_it) {
  fresh_start();
  std::shared_ptr<Real> outer, inner;
  {
    const Scope scope("memory_test");
    outer = allocate(count);
    const Scope part("part", 3);
    inner = allocate(3 * count);
  }
  inner.reset();
  outer.reset();
  const auto peaks = peak_bytes_by_scope();
  EXPECT_GE(peaks.at("memory_test"), asked);
  EXPECT_LT(peaks.at("memory_test"), 2 * asked);
  EXPECT_GE(peaks.at("memory_test.part.3"), 3 * asked);
  reset_memory_peak();
  EXPECT_FALSE(peak_bytes_by_scope().contains("memory_test"));
}

TEST(Memory, peak_of_a_scope_is_its_own_even_when_freed_elsewhere) {
  fresh_start();
  for (int i = 0; i < 3; ++i) {
    std::shared_ptr<Real> block;
    {
      const Scope scope("memory_test_rounds");
      block = allocate(count);
    }
    const Scope elsewhere("memory_test_elsewhere");
    block.reset();
  }
  const auto peaks = peak_bytes_by_scope();
  EXPECT_LT(peaks.at("memory_test_rounds"), 2 * asked);
  EXPECT_FALSE(peaks.contains("memory_test_elsewhere"));
}

TEST(Memory, takes_back_blocks_freed_by_another_thread) {
  const MemoryUse start = fresh_start();
  auto block = allocate(count);
  std::thread([moved = std::move(block)]() mutable { moved.reset(); }).join();
  EXPECT_EQ(memory_use().live, start.live);
  reset_memory_peak();
  const auto again = allocate(count);
  EXPECT_EQ(memory_use().fresh, 0);
}

TEST(Memory, stays_consistent_under_many_threads) {
  const MemoryUse start = fresh_start();
  std::vector<std::thread> threads;
  for (Index t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      const Scope scope("memory_test_threads", t);
      for (Index i = 0; i < 500; ++i) {
        const auto block = allocate(1 + i * 37 % 5000);
        block.get()[0] = Real(i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory_use().live, start.live);
}

TEST(Memory, trim_gives_back_exactly_what_nobody_uses) {
  fresh_start();
  const auto kept = allocate(count);
  { const auto gone = allocate(100 * count); }
  EXPECT_GE(memory_use().held - memory_use().live, 100 * asked);
  trim_memory();
  EXPECT_EQ(memory_use().held, memory_use().live);
  kept.get()[count - 1] = 1;
}

TEST(Memory, aligns_small_and_large_blocks) {
  for (const Index n : {Index(1), Index(17), Index(3) << 20})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(allocate(n).get()) % 64, 0u);
}

TEST(Memory, that_cannot_be_had_is_an_error_and_is_not_counted) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer ends the process instead";
#endif
  const MemoryUse start = fresh_start();
  EXPECT_THROW(allocate(Index(1) << 58), std::bad_alloc);
  const MemoryUse after = memory_use();
  EXPECT_EQ(after.live, start.live);
  EXPECT_EQ(after.held, start.held);
  EXPECT_EQ(after.peak, start.peak);
}

TEST(Memory, of_a_size_that_overflows_or_that_no_machine_has_is_refused_before_it_is_asked_for) {
  const MemoryUse start = fresh_start();
  const Index most = std::numeric_limits<Index>::max();
  for (const Index numbers : {most, most / Index(sizeof(Real)) + 1, most / Index(sizeof(Real)),
                              Index(1) << 62, Index(1) << 47}) {
    try {
      allocate(numbers);
      ADD_FAILURE() << numbers << " numbers were given";
    } catch (const OutOfMemory& error) {
      EXPECT_NE(std::string(error.what()).find("more than any machine holds"), std::string::npos)
          << error.what();
    }
  }
  const MemoryUse after = memory_use();
  EXPECT_EQ(after.live, start.live);
  EXPECT_EQ(after.held, start.held);
  EXPECT_EQ(after.peak, start.peak);
}

}  // namespace
}  // namespace weft::core::memory_test
