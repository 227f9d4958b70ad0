#pragma once

#include "autograd/parameter.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// Keys and values of every sequence projected along its length, k' = E k and v' = F v, padding
/// left out; sequences shorter than the tables use their first columns.
/// keys, values: [B m, H D], e, f: [slots, longest] or [H, slots, longest]; they may be the same
/// parameter -> [B slots, 2 H D], k' beside v'
Var project_length(const std::vector<HeadBlock>& keys_and_values, const autograd::Parameter& e,
                   const autograd::Parameter& f, const Sequences& sequences, Index columns);

}  // namespace weft::layers
