#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/evaluate/evaluation.h"
#include "experiments/evaluate/span_report.h"
#include "experiments/run/metrics_log.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {

/// Validation results of a model in training, for metrics.jsonl and for people.
struct Validation {
  Evaluation evaluation;
  std::optional<SpanReport> spans;  ///< of models that have them
  MetricRecord record;
  std::string line;  ///< "step 300: validation 2.1 (3.0 bits per symbol, floor 2.9)"
};

/// Baselines on the validation split without a model.
struct KnownBaselines {
  std::vector<data::Baseline> accuracy;
  std::vector<data::BitsBaseline> bits;
};

/// How all ranks of a trainer together score `batches` of the validation split; 0: all.
EvaluationOptions validation_options(const Trainer& trainer, Index batches,
                                     const std::function<void()>& poll);

/// Scores train.eval_batches of the split, under names that begin with validation_. Before every
/// batch it calls `poll`, which may throw to end it.
Validation validate(const Trainer& trainer, const KnownBaselines& baselines,
                    const std::function<void()>& poll);

/// Scores the whole split when a run ends, under names that begin with final_validation_.
Validation validate_finally(const Trainer& trainer, const KnownBaselines& baselines,
                            const std::function<void()>& poll);
/// The metric by which the record of that is recognised.
inline constexpr const char* final_loss_name = "final_validation_loss";

}  // namespace weft::experiments
