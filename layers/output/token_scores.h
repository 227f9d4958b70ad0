#pragma once

#include <vector>

#include "core/arrays/tensor.h"
#include "core/arrays/tokens.h"

namespace weft::layers {

/// How well each target was predicted, and by how many steps.
struct TokenScores {
  std::vector<float> nats;    ///< -ln p(target); 0 where nothing is scored
  std::vector<bool> correct;  ///< the target was the likeliest token
  /// Where positions halt by themselves, the steps of the one that predicts the target, or the mean
  /// over the positions of the sequence that it is the answer to; else empty.
  std::vector<float> steps = {};
};

/// The mean of the steps that the positions of each sequence took, but for the zeros of padding.
/// steps: [B * T] or empty -> [B] or empty
std::vector<float> mean_steps(const std::vector<float>& steps, core::Index batch);

/// h: [N, W], table: [V, W], targets: N of them, bias: [V] or null. Logits exist a piece at a time.
TokenScores score_tokens(const core::Tensor& h, const core::Tensor& table,
                         const core::Tokens& targets, const core::Tensor* bias = nullptr);

}  // namespace weft::layers
