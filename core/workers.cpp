// The only source that includes oneTBB. Like the library itself it is built without
// ThreadSanitizer, which would see half of how the library hands its tasks from thread to thread.
#include "core/workers.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

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

std::unique_ptr<Workers>& all() {
  static auto workers = std::make_unique<Workers>(own_processors());
  return workers;
}

}  // namespace

int own_processors() {
  const int visible = tbb::info::default_concurrency();
  // Where Slurm does not bind tasks, all processors of the machine are visible.
  const char* given = std::getenv("SLURM_CPUS_PER_TASK");
  const long count = given ? std::strtol(given, nullptr, 10) : 0;
  return count > 0 ? int(std::min<long>(count, visible)) : visible;
}

void set_workers(int count) { all() = std::make_unique<Workers>(count); }

int workers() { return all()->arena.max_concurrency(); }

void run_pieces(Index count, const Pieces& pieces) {
  const auto run = [&](Index piece) { pieces.run(piece); };
  all()->arena.execute([&] { tbb::parallel_for(Index(0), count, run, tbb::simple_partitioner()); });
}

}  // namespace weft::core
