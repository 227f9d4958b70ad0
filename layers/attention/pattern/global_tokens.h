#pragma once

#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// Reads `positions` and reports those that no sequence reaches.
void read_global_positions(core::Fields& field, std::vector<Index>& positions,
                           const AttentionSite& site);

/// Reads `mode`.
void read_global_mode(core::Fields& field, GlobalMode& mode);

}  // namespace weft::layers
