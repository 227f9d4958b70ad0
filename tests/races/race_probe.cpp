// A race on purpose: two threads add to one number inside a parallel loop. What looks for races
// must find it, or it would find none.
#include <atomic>
#include <thread>

#include "core/parallel.h"

int main() {
  using namespace weft::core;
  set_threads(2);
  Index sum = 0;
  std::atomic<int> inside = 0;
  parallel_for(2, 1, [&](Index begin, Index) {
    inside.fetch_add(1, std::memory_order_relaxed);  // in no order that would hide the race
    while (inside.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    sum += begin;
  });
  return sum == 1 ? 0 : 1;
}
