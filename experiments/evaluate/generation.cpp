#include "experiments/evaluate/generation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace weft::experiments {

using core::Index;
using core::Token;

Token draw_token(const core::Tensor& logits, const GenerationOptions& options,
                 const core::Rng& stream, std::uint64_t i) {
  const auto z = logits.read().first(options.drawn > 0 ? std::size_t(options.drawn)
                                                       : std::size_t(logits.size()));
  if (options.temperature == 0) return Token(std::ranges::max_element(z) - z.begin());
  std::vector<Token> order(z.size());
  std::iota(order.begin(), order.end(), 0);
  const auto likelier = [&](Token a, Token b) {
    return z[std::size_t(a)] > z[std::size_t(b)] ||
           (z[std::size_t(a)] == z[std::size_t(b)] && a < b);
  };
  std::ranges::sort(order, likelier);
  if (options.top_k > 0 && options.top_k < Index(order.size()))
    order.resize(std::size_t(options.top_k));
  std::vector<double> weights;
  for (const Token t : order)
    weights.push_back(
        std::exp(double(z[std::size_t(t)] - z[std::size_t(order[0])]) / options.temperature));
  double left = stream.uniform(i) * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t k = 0; k < order.size(); ++k)
    if ((left -= weights[k]) < 0) return order[k];
  return order.back();
}

namespace {

/// Draws tokens from `logits` and what `step` says after each, up to the token `end` if there is
/// one, and no more than learned positions allow after `used`.
Generation draw_tokens(core::Tensor logits, const std::function<core::Tensor(Token)>& step,
                       std::optional<Token> end, Index used, std::optional<Index> longest,
                       const GenerationOptions& options, const std::function<void(Token)>& show) {
  const core::Rng stream = core::Rng(options.seed).fold("generation");
  Generation result;
  while (Index(result.tokens.size()) < options.tokens) {
    const Token next = draw_token(logits, options, stream, result.tokens.size());
    if (next == end) return result;
    result.tokens.push_back(next);
    if (show) show(next);
    if (Index(result.tokens.size()) == options.tokens) break;
    result.positions_ended = longest && used >= *longest;
    if (result.positions_ended) break;
    logits = step(next);
    ++used;
  }
  return result;
}

}  // namespace

Generation generate(const layers::LanguageModel& model, const std::vector<Token>& prompt,
                    const GenerationOptions& options, const std::function<void(Token)>& show) {
  core::require(!prompt.empty(), "generate: the prompt is empty; give at least one token");
  auto states = model.begin();
  core::Tensor logits;
  for (const Token token : prompt) logits = model.step(states, token);
  return draw_tokens(
      logits, [&](Token token) { return model.step(states, token); }, std::nullopt, states.position,
      model.longest(), options, show);
}

Generation generate(const layers::Seq2SeqModel& model, const std::vector<Token>& source,
                    Token boundary, const GenerationOptions& options,
                    const std::function<void(Token)>& show) {
  const auto decoder = model.begin(source);
  const core::Tensor first = decoder->step(boundary);
  return draw_tokens(
      first, [&](Token token) { return decoder->step(token); }, boundary, 1, model.longest(),
      options, show);
}

Generation answer(const layers::Model& model, std::optional<Token> boundary,
                  const std::vector<Token>& prompt, const GenerationOptions& options,
                  const std::function<void(Token)>& show) {
  if (boundary)
    return generate(layers::as_seq2seq_model(model, "generate"), prompt, *boundary, options, show);
  return generate(layers::as_language_model(model, "generate"), prompt, options, show);
}

}  // namespace weft::experiments
