#include "core/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <memory>

#include "core/error.h"

namespace weft::core {
namespace {

std::unique_ptr<tbb::global_control>& limit() {
  static std::unique_ptr<tbb::global_control> control;
  return control;
}

}  // namespace

void set_threads(Index count) {
  require(count >= 0, "threads: needs 0 (all cores) or more, got ", count);
  const int wanted = count > 0 ? int(count) : tbb::info::default_concurrency();
  limit() = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  std::size_t(wanted));
}

Index threads() {
  const auto allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return Index(allowed);
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  const Index pieces = (count + grain - 1) / grain;
  if (pieces <= 1) {
    if (count > 0) body(0, count);
    return;
  }
  tbb::parallel_for(
      Index(0), pieces,
      [&](Index piece) { body(piece * grain, std::min(count, (piece + 1) * grain)); },
      tbb::simple_partitioner());
}

Index rows_per_piece(Index width) {
  return std::max<Index>(1, elementwise_grain / std::max<Index>(1, width));
}

}  // namespace weft::core
