#include "experiments/evaluate/generation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace weft::experiments {

using core::Index;
using core::Token;

void check_logits(std::span<const core::Real> logits) {
  bool all = true;
  core::Real largest = -std::numeric_limits<core::Real>::infinity();
  for (const core::Real logit : logits) {
    all = all && !std::isnan(logit);
    largest = std::max(largest, logit);
  }
  if (all && std::isfinite(largest)) return;
  throw core::Error(core::Fault::diverged, "what the model predicts is not a number",
                    "Use an earlier checkpoint with --ckpt, or train again with a lower optim.lr");
}

Token draw_token(const core::Tensor& logits, const GenerationOptions& options,
                 const core::Rng& stream, std::uint64_t i) {
  const auto z = logits.read().first(options.drawn > 0 ? std::size_t(options.drawn)
                                                       : std::size_t(logits.size()));
  check_logits(z);
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

using Show = std::function<void(Token)>;

/// One sequence that is drawn token by token: up to the token `end` if there is one, and no more
/// than learned positions allow after `used`.
class Drawing {
 public:
  Drawing(const GenerationOptions& options, std::optional<Token> end, Index used,
          std::optional<Index> longest, Show show = {})
      : options_(options),
        stream_(core::Rng(options.seed).fold("generation")),
        end_(end),
        used_(used),
        longest_(longest),
        show_(std::move(show)) {}

  /// Draws from the logits of the next token.  -> the token that the model reads next; nothing
  /// where the sequence is complete
  std::optional<Token> next(const core::Tensor& logits) {
    std::vector<Token>& tokens = result_.tokens;
    if (Index(tokens.size()) >= options_.tokens) return {};
    const Token drawn = draw_token(logits, options_, stream_, tokens.size());
    if (drawn == end_) return {};
    tokens.push_back(drawn);
    if (show_) show_(drawn);
    if (Index(tokens.size()) == options_.tokens) return {};
    result_.positions_ended = longest_ && used_ >= *longest_;
    if (result_.positions_ended) return {};
    ++used_;
    return drawn;
  }

  Generation take() { return std::move(result_); }

 private:
  GenerationOptions options_;
  core::Rng stream_;
  std::optional<Token> end_;
  Index used_;
  std::optional<Index> longest_;
  Show show_;
  Generation result_;
};

/// A sequence by its number, and the token that it reads next.
using NextOf = std::pair<std::size_t, Token>;

/// Draws all sequences to their ends.  first: logits [V] of each; step(next): [n, V]
std::vector<Generation> draw_together(
    std::vector<Drawing> drawings, const std::vector<core::Tensor>& first,
    const std::function<core::Tensor(const std::vector<NextOf>&)>& step) {
  std::vector<NextOf> next;
  for (std::size_t i = 0; i < drawings.size(); ++i)
    if (const auto token = drawings[i].next(first[i])) next.emplace_back(i, *token);
  while (!next.empty()) {
    const core::Tensor logits = step(next);
    std::vector<NextOf> after;
    for (std::size_t r = 0; r < next.size(); ++r)
      if (const auto token = drawings[next[r].first].next(logits.rows(Index(r), 1)))
        after.emplace_back(next[r].first, *token);
    next = std::move(after);
  }
  std::vector<Generation> results;
  for (Drawing& drawing : drawings) results.push_back(drawing.take());
  return results;
}

std::vector<Generation> generate_all(const layers::LanguageModel& model,
                                     const std::vector<GenerationTask>& tasks, const Show& show) {
  std::vector<layers::BranchStates> states;
  std::vector<core::Tensor> first;
  std::vector<Drawing> drawings;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    core::require(!tasks[i].prompt.empty(),
                  "generate: the prompt is empty; give at least one token");
    if (i > 0 && tasks[i].prompt == tasks[i - 1].prompt) {
      states.push_back(states.back().copy());
      first.push_back(first.back());
    } else {
      states.push_back(model.begin());
      first.push_back(model.read(states.back(), tasks[i].prompt));
    }
    drawings.emplace_back(tasks[i].options, std::nullopt, states.back().position, model.longest(),
                          show);
  }
  return draw_together(std::move(drawings), first, [&](const std::vector<NextOf>& next) {
    layers::NextTokens tokens;
    for (const auto& [i, token] : next) tokens.push_back({&states[i], token});
    return model.step(tokens);
  });
}

std::vector<Generation> generate_all(const layers::Seq2SeqModel& model,
                                     const std::vector<GenerationTask>& tasks, Token boundary,
                                     const Show& show) {
  std::vector<std::unique_ptr<layers::SourceDecoder>> targets;
  std::vector<Drawing> drawings;
  std::vector<layers::NextOfTarget> begins;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const GenerationTask& task = tasks[i];
    targets.push_back(i > 0 && task.prompt == tasks[i - 1].prompt ? targets.back()->copy()
                                                                  : model.begin(task.prompt));
    drawings.emplace_back(task.options, boundary, 1, model.longest(), show);
    begins.push_back({targets.back().get(), boundary});
  }
  if (tasks.empty()) return {};
  const core::Tensor logits = model.step(begins);
  std::vector<core::Tensor> first;
  for (std::size_t i = 0; i < tasks.size(); ++i) first.push_back(logits.rows(Index(i), 1));
  return draw_together(std::move(drawings), first, [&](const std::vector<NextOf>& next) {
    std::vector<layers::NextOfTarget> tokens;
    for (const auto& [i, token] : next) tokens.push_back({targets[i].get(), token});
    return model.step(tokens);
  });
}

/// What `make` gives for all tasks, some at a time, since each has a state of its own.
template <class Make>
std::vector<Generation> in_groups(const std::vector<GenerationTask>& tasks, const Make& make) {
  constexpr std::size_t most_together = 64;
  std::vector<Generation> all;
  for (std::size_t first = 0; first < tasks.size(); first += most_together) {
    const auto from = tasks.begin() + std::ptrdiff_t(first);
    const auto count = std::ptrdiff_t(std::min(most_together, tasks.size() - first));
    for (Generation& made : make(std::vector<GenerationTask>(from, from + count)))
      all.push_back(std::move(made));
  }
  return all;
}

}  // namespace

std::vector<GenerationTask> samples_of(const std::vector<Token>& prompt, GenerationOptions options,
                                       Index count) {
  std::vector<GenerationTask> tasks;
  for (Index i = 0; i < count; ++i, ++options.seed) tasks.push_back({prompt, options});
  return tasks;
}

std::vector<Generation> generate(const layers::LanguageModel& model,
                                 const std::vector<GenerationTask>& tasks) {
  return in_groups(tasks, [&](const auto& some) { return generate_all(model, some, {}); });
}

std::vector<Generation> generate(const layers::Seq2SeqModel& model,
                                 const std::vector<GenerationTask>& tasks, Token boundary) {
  return in_groups(tasks,
                   [&](const auto& some) { return generate_all(model, some, boundary, {}); });
}

Generation generate(const layers::LanguageModel& model, const std::vector<Token>& prompt,
                    const GenerationOptions& options, const std::function<void(Token)>& show) {
  return generate_all(model, {{prompt, options}}, show)[0];
}

Generation generate(const layers::Seq2SeqModel& model, const std::vector<Token>& source,
                    Token boundary, const GenerationOptions& options,
                    const std::function<void(Token)>& show) {
  return generate_all(model, {{source, options}}, boundary, show)[0];
}

Generation answer(const layers::Model& model, std::optional<Token> boundary,
                  const std::vector<Token>& prompt, const GenerationOptions& options,
                  const std::function<void(Token)>& show) {
  if (boundary)
    return generate(layers::as_seq2seq_model(model, "generate"), prompt, *boundary, options, show);
  return generate(layers::as_language_model(model, "generate"), prompt, options, show);
}

std::vector<Generation> answer(const layers::Model& model, std::optional<Token> boundary,
                               const std::vector<GenerationTask>& tasks) {
  if (boundary) return generate(layers::as_seq2seq_model(model, "generate"), tasks, *boundary);
  return generate(layers::as_language_model(model, "generate"), tasks);
}

}  // namespace weft::experiments
