#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/arrays/tokens.h"
#include "core/rng.h"
#include "layers/model/language_model.h"
#include "layers/model/seq2seq_model.h"

namespace weft::experiments {

struct GenerationOptions {
  core::Index tokens = 64;
  double temperature = 0.8;  ///< 0: always the likeliest token
  core::Index top_k = 0;     ///< 0: all tokens may be drawn
  core::Index drawn = 0;     ///< only tokens below this one are drawn; 0: all are
  std::uint64_t seed = 1;
};

/// Throws an Error (Fault::diverged) where a model's logits are no numbers. -inf is one: a token
/// that is never drawn.
void check_logits(std::span<const core::Real> logits);

/// Draws a token from logits [V]; number i of the stream decides. Throws as check_logits does.
core::Token draw_token(const core::Tensor& logits, const GenerationOptions& options,
                       const core::Rng& stream, std::uint64_t i);

/// What a model generated.
struct Generation {
  std::vector<core::Token> tokens;
  bool positions_ended = false;  ///< stopped early, where learned positions end
};

/// What one of several sequences is generated from, and how.
struct GenerationTask {
  std::vector<core::Token> prompt;  ///< or the source
  GenerationOptions options;
};

/// `count` tasks of the same prompt, with seeds that follow each other.
std::vector<GenerationTask> samples_of(const std::vector<core::Token>& prompt,
                                       GenerationOptions options, core::Index count);

/// Generates several sequences together, 64 at most: each is what its task gives alone, and every
/// weight is read once for all of them at each token. Prompts that are the same and follow each
/// other are read once.
std::vector<Generation> generate(const layers::LanguageModel& model,
                                 const std::vector<GenerationTask>& tasks);
std::vector<Generation> generate(const layers::Seq2SeqModel& model,
                                 const std::vector<GenerationTask>& tasks, core::Token boundary);

/// Continues the prompt token by token with the mechanisms' decoding states, handing each new
/// token to `show` as it comes. The same options give the same text.
Generation generate(const layers::LanguageModel& model, const std::vector<core::Token>& prompt,
                    const GenerationOptions& options,
                    const std::function<void(core::Token)>& show = {});

/// Generates a target from a source, up to the token that ends it.
Generation generate(const layers::Seq2SeqModel& model, const std::vector<core::Token>& source,
                    core::Token boundary, const GenerationOptions& options,
                    const std::function<void(core::Token)>& show = {});

/// The output of a model for a prompt: its continuation or, where the data have a token that ends a
/// target, what it generates from it as a source. Models of other tasks are refused.
Generation answer(const layers::Model& model, std::optional<core::Token> boundary,
                  const std::vector<core::Token>& prompt, const GenerationOptions& options,
                  const std::function<void(core::Token)>& show = {});
std::vector<Generation> answer(const layers::Model& model, std::optional<core::Token> boundary,
                               const std::vector<GenerationTask>& tasks);

}  // namespace weft::experiments
