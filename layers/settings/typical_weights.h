#pragma once

#include "layers/settings/observed_plans.h"

namespace weft::layers {

/// What a head group reads before any training: its mechanism as it starts, over one sequence of
/// `length` tokens whose projections are drawn. A picture of it shows which keys can be read at
/// all.
Observation typical_weights(const HeadGroupPlan& plan, AttentionSite site, Index length);

}  // namespace weft::layers
