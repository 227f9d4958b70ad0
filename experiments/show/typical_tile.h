#pragma once

#include "experiments/draw/weight_tile.h"
#include "layers/settings/attention_plans.h"

namespace weft::experiments {

/// What the first head of a group reads of `length` drawn tokens before any training: a thumbnail
/// of its attention.
WeightTile typical_tile(const layers::HeadGroupPlan& plan, const layers::AttentionSite& site,
                        Index length);

}  // namespace weft::experiments
