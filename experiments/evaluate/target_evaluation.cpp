#include "experiments/evaluate/target_evaluation.h"

#include <algorithm>

#include "core/error.h"
#include "data/plain_words.h"
#include "experiments/console/number_text.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {
namespace {

using core::Index;
using core::Token;

/// The tokens of a row up to its end.
std::vector<Token> target_of(const data::Batch& batch, Index row, Token boundary) {
  const Index length = batch.targets.shape()[1];
  std::vector<Token> tokens;
  for (const Token token :
       batch.targets.read().subspan(std::size_t(row * length), std::size_t(length))) {
    if (token == core::no_target || token == boundary) break;
    tokens.push_back(token);
  }
  return tokens;
}

bool is_padding(const data::Batch& batch, Index row) {
  return batch.targets.read()[std::size_t(row * batch.targets.shape()[1])] == core::no_target;
}

std::vector<Token> source_of(const data::Batch& batch, Index row) {
  const Index longest = batch.sources.shape()[1];
  const auto all = batch.sources.read().subspan(
      std::size_t(row * longest), std::size_t((*batch.source_lengths)[std::size_t(row)]));
  return {all.begin(), all.end()};
}

}  // namespace

TargetEvaluation evaluate_targets(const layers::Seq2SeqModel& model, const data::Dataset& dataset,
                                  data::Split split, Index most) {
  const Token boundary = dataset.boundary().value();
  const Index length = dataset.length(), batches = dataset.evaluation_batches(split, length);
  TargetEvaluation result;
  double by_lines = 0;
  bool has_lines = false;
  for (Index i = 0; i < batches; ++i) {
    const data::Batch batch = dataset.evaluation(split, i, length);
    std::vector<GenerationTask> tasks;
    for (Index row = 0; row < batch.inputs.shape()[0] && !is_padding(batch, row); ++row) {
      if (most > 0 && result.targets + row == most) break;
      tasks.push_back({source_of(batch, row), {.tokens = length, .temperature = 0}});
    }
    const std::vector<Generation> all = generate(model, tasks, boundary);
    for (std::size_t row = 0; row < all.size(); ++row) {
      const Generation& made = all[row];
      const std::vector<Token> target = target_of(batch, Index(row), boundary);
      const auto whole = dataset.reference(split, result.targets);
      const auto words = dataset.words(made.tokens);
      const auto expected = whole ? data::plain_words(*whole) : dataset.words(target);
      const Rouge rouge = rouge_of(words, expected);
      const WordLines lines = whole ? lines_of(*whole) : WordLines{expected};
      has_lines = has_lines || lines.size() > 1;
      by_lines +=
          rouge_by_lines(whole ? lines_of(dataset.decode(made.tokens)) : WordLines{words}, lines);
      result.rouge.one += rouge.one;
      result.rouge.two += rouge.two;
      result.rouge.longest += rouge.longest;
      result.exact += made.tokens == target;
      result.generated.push_back(dataset.decode(made.tokens));
      ++result.targets;
    }
  }
  core::require(result.targets > 0, "evaluation: the split has no target");
  const auto count = double(result.targets);
  for (double* sum : {&result.rouge.one, &result.rouge.two, &result.rouge.longest, &result.exact})
    *sum /= count;
  if (has_lines) result.by_lines = by_lines / count;
  return result;
}

std::string print_targets(const TargetEvaluation& e) {
  return "generated, the most likely token each time: ROUGE-1 " + format_fixed(e.rouge.one, 4) +
         ", ROUGE-2 " + format_fixed(e.rouge.two, 4) + ", ROUGE-L " +
         format_fixed(e.rouge.longest, 4) +
         (e.by_lines ? ", ROUGE-Lsum " + format_fixed(*e.by_lines, 4) + " (by lines)" : "") +
         ", exact " + format_fixed(e.exact, 4) + ", " + std::to_string(e.targets) + " targets\n";
}

}  // namespace weft::experiments
