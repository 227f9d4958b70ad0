#pragma once

#include <cstdint>
#include <vector>

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// The `window` tokens with the largest product with each centre, earlier ones first among equals,
/// each set ascending; all of a shorter sequence. For each lane [K, min(window, real length)].
/// tokens: [B T, H D], centres: [H, K, D]; lengths: of real tokens, or null
std::vector<std::vector<std::uint32_t>> nearest_tokens(const Tensor& tokens, const Tensor& centres,
                                                       Index batch, Index window,
                                                       const std::vector<Index>* lengths);

}  // namespace weft::layers
