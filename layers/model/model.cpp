#include "layers/model/model.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {

Index Model::counted(const core::Batch& batch) const {
  return batch.targets.size() - std::ranges::count(batch.targets.read(), core::no_target);
}

Real Model::target_share(const Reading& reading, Real share) const {
  if (reading.parts == 1 || !reading.all_targets) return share;
  core::require(*reading.all_targets > 0, "loss: no target of the batch is counted");
  return share * Real(counted(reading)) / Real(*reading.all_targets);
}

}  // namespace weft::layers
