#include "experiments/evaluate/evaluation.h"

#include <iomanip>
#include <numbers>
#include <sstream>

#include "experiments/evaluate/baselines.h"
#include "experiments/evaluate/question_evaluation.h"

namespace weft::experiments {
namespace {

double bits_of(double nats) { return nats / std::numbers::ln2; }

/// Counts every scored token of a batch, and the sequences that have any.
void count_tokens(const data::Batch& batch, const layers::TokenScores& scores, Tally& tally) {
  const auto targets = batch.targets.read(), distances = batch.distances.read();
  const auto length = std::size_t(batch.targets.shape().back());
  for (std::size_t begin = 0; begin < targets.size(); begin += length) {
    bool scored = false, all_correct = true;
    for (std::size_t i = begin; i < begin + length; ++i) {
      if (targets[i] == core::no_target) continue;
      scored = true;
      all_correct = all_correct && scores.correct[i];
      tally.count(scores.nats[i], scores.correct[i], Index(i - begin) + 1,
                  distances.empty() ? 0 : distances[i]);
    }
    if (scored) tally.count_sequence(all_correct);
  }
}

void print_bands(std::ostream& out, const char* title, const std::vector<Band>& bands) {
  out << title << '\n';
  for (const Band& band : bands) {
    if (band.tokens == 0) continue;
    const std::string range = band.from == band.to
                                  ? std::to_string(band.from)
                                  : std::to_string(band.from) + "-" + std::to_string(band.to);
    out << "  " << std::setw(13) << range << std::setw(10) << band.tokens << std::setw(10)
        << std::setprecision(3) << band.bits() << std::setw(11) << band.accuracy() << '\n';
  }
}

}  // namespace

Evaluation evaluate(const layers::Model& model, const data::Dataset& dataset,
                    const EvaluationOptions& options) {
  const auto* questions = dynamic_cast<const data::QuestionData*>(&dataset);
  if (const auto* answers = dynamic_cast<const layers::SpanModel*>(&model); answers && questions)
    return evaluate_questions(*answers, *questions, options);
  const autograd::Pass pass(core::Rng(0).fold("evaluation"));
  Tally tally;
  layers::StreamMemory memory;
  const double pairs = for_each_batch(dataset, options, [&](const data::Batch& batch) {
    if (model.recurrent() && !batch.continues) memory = model.memory(batch.inputs.shape()[0]);
    count_tokens(batch, model.score(pass, {batch, model.recurrent() ? &memory : nullptr}), tally);
  });
  Evaluation result = tally.finish();
  result.stride = options.stride > 0 ? options.stride : dataset.length();
  result.pairs_per_token = pairs;
  return result;
}

std::string print_evaluation(const Evaluation& e, const data::Dataset& dataset, data::Split split) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4);
  const char* scored = e.f1 ? " questions" : dataset.classes() > 0 ? " sequences" : " tokens";
  out << data::name_of(split) << ": " << e.bits() << " bits per " << dataset.unit() << " (± "
      << bits_of(e.error) << "), loss " << e.nats << ", perplexity " << e.perplexity() << ", "
      << e.tokens << scored << ", each scored once\n";
  if (const auto floor = dataset.floor_bits(split))
    out << "floor: " << *floor << " bits per " << dataset.unit()
        << ", what the source itself leaves open\n";
  if (e.pairs_per_token > 0)
    out << "attention scored " << std::setprecision(1) << e.pairs_per_token
        << " pairs a token over all layers and heads" << std::setprecision(4) << '\n';
  if (const auto part = dataset.scored_part())
    out << *part << ": " << e.accuracy() << " of tokens right, " << e.sequence_accuracy()
        << " of sequences whole\n";
  if (e.f1) out << "exact match " << e.accuracy() << ", F1 " << *e.f1 << '\n';
  if (const auto baselines = all_baselines(dataset, split); !baselines.empty())
    out << print_accuracy(e.f1 ? "exact match" : "accuracy", e.accuracy(), e.accuracy_error(),
                          baselines);
  if (const auto baselines = dataset.bits_baselines(split); !baselines.empty())
    out << print_bits(e.bits(), bits_of(e.error), baselines);
  if (e.f1) print_bands(out, "     answer at questions      bits      exact", e.by_distance);
  if (!dataset.predicts_next()) return out.str();
  print_bands(out, "       context    tokens      bits   accuracy", e.by_position);
  if (!e.by_distance.empty()) {
    print_bands(out, " recalled from    tokens      bits   accuracy", e.by_distance);
    if (const auto chance = dataset.chance())
      out << "  chance of a guess: " << std::setprecision(3) << *chance << '\n';
  }
  return out.str();
}

}  // namespace weft::experiments
