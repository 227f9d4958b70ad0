#include "core/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
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

std::unique_ptr<Workers>& workers() {
  static auto all = std::make_unique<Workers>(tbb::info::default_concurrency());
  return all;
}

}  // namespace

void set_threads(Index count) {
  require(count >= 0, "threads: needs 0 (all cores) or more, got ", count);
  workers() = std::make_unique<Workers>(count > 0 ? int(count) : tbb::info::default_concurrency());
}

Index threads() { return workers()->arena.max_concurrency(); }

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  const Index pieces = (count + grain - 1) / grain;
  if (pieces <= 1) {
    if (count > 0) body(0, count);
    return;
  }
  const auto run = [&](Index piece) { body(piece * grain, std::min(count, (piece + 1) * grain)); };
  workers()->arena.execute(
      [&] { tbb::parallel_for(Index(0), pieces, run, tbb::simple_partitioner()); });
}

Index rows_per_piece(Index width) {
  return std::max<Index>(1, elementwise_grain / std::max<Index>(1, width));
}

}  // namespace weft::core
