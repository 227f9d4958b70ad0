#include "core/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/error.h"

namespace weft::core {
namespace {

/// The arena makes room for as many threads as asked for, which may be more than there are cores;
/// the control lets that many exist.
struct Workers {
  explicit Workers(int count)
      : limit(tbb::global_control::max_allowed_parallelism, std::size_t(count)), arena(count) {}
  tbb::global_control limit;
  tbb::task_arena arena;
};

/// The processors that this process may use. Slurm gives a task a number of them, but where it does
/// not bind tasks, all of the machine are visible.
int own_processors() {
  const int visible = tbb::info::default_concurrency();
  const char* given = std::getenv("SLURM_CPUS_PER_TASK");
  const long count = given ? std::strtol(given, nullptr, 10) : 0;
  return count > 0 ? int(std::min<long>(count, visible)) : visible;
}

std::unique_ptr<Workers>& workers() {
  static auto all = std::make_unique<Workers>(own_processors());
  return all;
}

/// What oneTBB guarantees of a loop: its pieces see what was written before it, and who waited for
/// it sees what they wrote. ThreadSanitizer cannot find that out by itself, since the library is
/// not built with it; elsewhere this does nothing.
class LoopOrder {
 public:
#ifdef __SANITIZE_THREAD__
  void before_loop() { __tsan_release(&began_); }
  void before_piece() { __tsan_acquire(&began_); }
  void after_piece() { __tsan_release(&ended_); }
  void after_loop() { __tsan_acquire(&ended_); }

 private:
  char began_ = 0, ended_ = 0;
#else
  void before_loop() {}
  void before_piece() {}
  void after_piece() {}
  void after_loop() {}
#endif
};

}  // namespace

void set_threads(Index count) {
  require(count >= 0, "threads: needs 0 (all cores) or more, got ", count);
  workers() = std::make_unique<Workers>(count > 0 ? int(count) : own_processors());
}

Index threads() { return workers()->arena.max_concurrency(); }

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  const Index pieces = (count + grain - 1) / grain;
  if (pieces <= 1) {
    if (count > 0) body(0, count);
    return;
  }
  LoopOrder order;
  const auto run = [&](Index piece) {
    order.before_piece();
    body(piece * grain, std::min(count, (piece + 1) * grain));
    order.after_piece();
  };
  order.before_loop();
  workers()->arena.execute(
      [&] { tbb::parallel_for(Index(0), pieces, run, tbb::simple_partitioner()); });
  order.after_loop();
}

Index rows_per_piece(Index width) {
  return std::max<Index>(1, elementwise_grain / std::max<Index>(1, width));
}

}  // namespace weft::core
