#pragma once

#include <string_view>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// The `window` keys about a query, itself included and each `dilation` apart: the last ones where
/// attention is causal, otherwise as many on either side.
Pattern window_pattern(const AttentionSite& site, Index window, Index dilation = 1);

/// Reports a distance between keys that no sequence is long enough for.
void check_distance_fits(core::Fields& field, std::string_view key, Index distance,
                         const AttentionSite& site);

}  // namespace weft::layers
