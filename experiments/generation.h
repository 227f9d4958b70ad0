#pragma once

#include <functional>
#include <vector>

#include "core/rng.h"
#include "core/tokens.h"
#include "layers/language_model.h"

namespace weft::experiments {

struct GenerationOptions {
  core::Index tokens = 64;
  double temperature = 0.8;  ///< 0: always the likeliest token
  core::Index top_k = 0;     ///< 0: all tokens may be drawn
  std::uint64_t seed = 1;
};

/// Draws a token from logits [V]; number i of the stream decides.
core::Token draw_token(const core::Tensor& logits, const GenerationOptions& options,
                       const core::Rng& stream, std::uint64_t i);

/// Continues the prompt token by token with the mechanisms' decoding states, telling each new
/// token to `tell` as it comes. The same options give the same text. Stops early where learned
/// positions end.
std::vector<core::Token> generate(const layers::LanguageModel& model,
                                  const std::vector<core::Token>& prompt,
                                  const GenerationOptions& options,
                                  const std::function<void(core::Token)>& tell = {});

}  // namespace weft::experiments
