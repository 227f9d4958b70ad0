#include "experiments/generation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace weft::experiments {

using core::Index;
using core::Token;

Token draw_token(const core::Tensor& logits, const GenerationOptions& options,
                 const core::Rng& stream, std::uint64_t i) {
  const auto z = logits.read();
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

std::vector<Token> generate(const layers::LanguageModel& model, const std::vector<Token>& prompt,
                            const GenerationOptions& options,
                            const std::function<void(Token)>& tell) {
  core::require(!prompt.empty(), "generate: the prompt is empty; give at least one token");
  const core::Rng stream = core::Rng(options.seed).fold("generation");
  auto states = model.begin();
  core::Tensor logits;
  for (const Token token : prompt) logits = model.step(states, token);
  std::vector<Token> text;
  while (Index(text.size()) < options.tokens) {
    text.push_back(draw_token(logits, options, stream, text.size()));
    if (tell) tell(text.back());
    if (model.longest() && states.position >= *model.longest()) break;
    if (Index(text.size()) < options.tokens) logits = model.step(states, text.back());
  }
  return text;
}

}  // namespace weft::experiments
