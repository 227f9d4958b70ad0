#include "experiments/show/typical_tile.h"

#include "experiments/show/shown_reading.h"
#include "layers/settings/typical_weights.h"

namespace weft::experiments {

WeightTile typical_tile(const layers::HeadGroupPlan& plan, const layers::AttentionSite& site,
                        Index length) {
  return tile_of(layers::typical_weights(plan, site, length), 0);
}

}  // namespace weft::experiments
