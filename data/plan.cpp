#include "data/plan.h"

#include "core/error.h"

namespace weft::data {

std::unique_ptr<Dataset> DataPlan::make(Index batch, std::uint64_t seed) const {
  core::require(bool(maker), "data: the settings have not been read; call fields() first");
  core::require(batch >= 1, "data: a batch needs at least one sequence, got ", batch);
  return maker(batch, seed);
}

}  // namespace weft::data
