#include "experiments/train/validation.h"

#include <cmath>

#include "core/error.h"
#include "experiments/console/number_text.h"
#include "experiments/evaluate/baselines.h"

namespace weft::experiments {
namespace {

/// Recall from further back than this is beyond what a short window reads.
constexpr Index far_back = 31;

}  // namespace

EvaluationOptions validation_options(const Trainer& trainer, Index batches,
                                     const std::function<void()>& poll) {
  return {.batches = batches,
          .poll = poll,
          .shards = trainer.config().train.shards,
          .ranks = trainer.ranks(),
          .chunks = trainer.config().train.chunks};
}

namespace {

Validation score(const Trainer& trainer, const std::string& name, Index batches,
                 const std::function<void()>& poll) {
  const RunConfig& config = trainer.config();
  Validation result;
  Evaluation& e = result.evaluation;
  e = evaluate(trainer.model(), trainer.dataset(), validation_options(trainer, batches, poll));
  if (!std::isfinite(e.nats))
    throw core::Error(
        core::Fault::diverged,
        core::message_of("the validation loss after step ", trainer.steps_done(), " is not finite"),
        "Lower optim.lr, raise optim.warmup or lower optim.clip, and resume from the "
        "last checkpoint");
  result.spans = span_report(trainer.model(), config);
  result.record = {trainer.steps_done(), {{name + "_loss", e.nats}, {name + "_bits", e.bits()}}};
  result.line = "step " + std::to_string(trainer.steps_done()) + ": validation " +
                format_fixed(e.nats, 4) + " (" + format_fixed(e.bits(), 4) + " bits per " +
                trainer.dataset().unit();
  return result;
}

void add_floor(const data::Dataset& dataset, const std::vector<data::BitsBaseline>& baselines,
               Validation& result) {
  if (const auto floor = dataset.floor_bits()) {
    result.record.values.push_back({"floor_bits", *floor});
    result.line += ", floor " + format_fixed(*floor, 4);
  }
  if (!baselines.empty()) result.line += ", " + format_among(result.evaluation.bits(), baselines);
  for (auto& value : baseline_metrics(baselines)) result.record.values.push_back(std::move(value));
  result.line += ")";
}

void add_recall(Validation& result) {
  const Evaluation& e = result.evaluation;
  if (e.by_distance.empty()) return;
  std::vector<double> from, tokens, accuracy;
  for (const Band& band : e.by_distance) {
    from.push_back(double(band.from));
    tokens.push_back(double(band.tokens));
    accuracy.push_back(band.accuracy());
  }
  result.record.values.push_back({"recall_distance", from});
  result.record.values.push_back({"recall_accuracy", accuracy});
  result.record.values.push_back({"recall_tokens", tokens});
  if (const auto far = e.recall_beyond(far_back))
    result.line += (e.f1 ? ", exact match beyond " : ", recall beyond ") +
                   std::to_string(far_back) + ": " + format_fixed(*far, 3);
}

/// The steps after which positions halt, where they do so by themselves, also by what makes some
/// tokens harder than others.
void add_steps(const std::string& name, Validation& result) {
  const Evaluation& e = result.evaluation;
  if (e.steps == 0) return;
  std::vector<double> from, steps;
  for (const Band& band : e.by_hardness()) {
    if (band.tokens == 0) continue;
    from.push_back(double(band.from));
    steps.push_back(band.mean_steps());
  }
  result.record.values.push_back({name + "_steps", e.steps});
  result.record.values.push_back({name + "_steps_from", from});
  result.record.values.push_back({name + "_steps_mean", steps});
  result.line += ", " + format_fixed(e.steps, 2) + " steps";
}

/// Accuracies, where they are what the data is about.
void add_accuracy(const data::Dataset& dataset, const std::vector<data::Baseline>& baselines,
                  const std::string& name, Validation& result) {
  const Evaluation& e = result.evaluation;
  auto& values = result.record.values;
  if (const auto part = dataset.scored_part()) {
    values.push_back({name + "_accuracy", e.accuracy()});
    values.push_back({name + "_sequence_accuracy", e.sequence_accuracy()});
    result.line += ", " + *part + ": " + format_fixed(e.accuracy(), 4) + " of tokens, " +
                   format_fixed(e.sequence_accuracy(), 3) + " of sequences";
  }
  if (e.f1) {
    values.push_back({name + "_f1", *e.f1});
    result.line += ", F1 " + format_fixed(*e.f1, 4);
  }
  if (baselines.empty()) return;
  values.push_back({name + "_accuracy", e.accuracy()});
  for (auto& value : baseline_metrics(baselines)) values.push_back(std::move(value));
  result.line += (e.f1 ? ", exact match " : ", accuracy ") + format_fixed(e.accuracy(), 4) + " (" +
                 format_among(e.accuracy(), baselines) + ")";
}

}  // namespace

Validation validate(const Trainer& trainer, const KnownBaselines& baselines,
                    const std::function<void()>& poll) {
  const std::string name = "validation";
  Validation result = score(trainer, name, trainer.config().train.eval_batches, poll);
  add_floor(trainer.dataset(), baselines.bits, result);
  add_recall(result);
  add_accuracy(trainer.dataset(), baselines.accuracy, name, result);
  add_steps(name, result);
  if (result.spans)
    for (auto& value : result.spans->metrics()) result.record.values.push_back(std::move(value));
  return result;
}

Validation validate_finally(const Trainer& trainer, const KnownBaselines& baselines,
                            const std::function<void()>& poll) {
  const std::string name = "final_validation";
  Validation result = score(trainer, name, 0, poll);
  result.line += ")";
  add_accuracy(trainer.dataset(), baselines.accuracy, name, result);
  add_steps(name, result);
  return result;
}

}  // namespace weft::experiments
