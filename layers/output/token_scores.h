#pragma once

#include <vector>

#include "core/arrays/tensor.h"
#include "core/arrays/tokens.h"

namespace weft::layers {

/// How well each target was predicted.
struct TokenScores {
  std::vector<float> nats;    ///< -ln p(target); 0 where nothing is scored
  std::vector<bool> correct;  ///< the target was the likeliest token
};

/// h: [N, W], table: [V, W], targets: N of them, bias: [V] or null. Logits exist a piece at a time.
TokenScores score_tokens(const core::Tensor& h, const core::Tensor& table,
                         const core::Tokens& targets, const core::Tensor* bias = nullptr);

}  // namespace weft::layers
