#pragma once

#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// The keys just before a query, itself left out: query i, at the position of key i + shift, reads
/// lengths[i] of them, or lengths[0] when there is only one.
Pattern span_pattern(std::vector<Index> lengths, Index shift = 0);

}  // namespace weft::layers
