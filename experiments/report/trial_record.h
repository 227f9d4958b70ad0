#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "experiments/run/curve.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/score.h"
#include "experiments/sweep/turns.h"

namespace weft::experiments {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// The outcome of a trial.
struct TrialRecord {
  PlannedTrial plan;
  TrialState state;
  Turn turn = Turn::now;
  std::filesystem::path config;  ///< its resolved config

  /// By metric: bits, loss, perplexity, accuracy, sequence_accuracy, f1, recall, steps. Empty
  /// unless done.
  std::map<std::string, double> scores;
  double floor_bits = not_measured, chance = not_measured;
  /// The increase of a token's loss when the sequence is cut right after its input; for models that
  /// leak.
  double leak_bits = not_measured;
  bool classifies = false;                  ///< every sequence has one answer
  std::map<std::string, double> baselines;  ///< accuracy without a model
  std::map<std::string, double> bits_baselines;
  std::string sample;  ///< the newest picture of its samples: the bytes of a PNG, or empty
  std::vector<RecallBand> recall;
  std::string hardness;  ///< what the bands of steps are by
  std::vector<StepsBand> steps;
  double best_validation = not_measured;
  double last_validation = not_measured;       ///< by which [tune] and [prune] decide
  Curve validation;                            ///< loss in nats
  Curve validation_bits;                       ///< the same per unit of the data
  double first_loss = not_measured;            ///< of the first step, before its update
  double first_gradient = not_measured;        ///< the norm of that step's gradient
  std::map<std::string, Curve> figures;        ///< what mechanisms report of themselves
  std::map<Index, std::vector<double>> spans;  ///< by layer: of its heads, as last reported

  // Measured: these differ between runs of the same trial.
  double tokens_per_s = not_measured;  ///< median over the steps
  double train_seconds = not_measured;
  double peak_bytes = not_measured;

  bool done() const { return state.phase == TrialState::Phase::done; }
};

struct SweepRecord {
  SweepPlan plan;
  std::vector<TrialRecord> trials;         ///< those that are compared
  std::vector<TrialRecord> rungs = {};     ///< of [tune]: those by which arms chose
  std::vector<std::string> machines;       ///< where the trials ran, each once
  std::vector<std::string> programs = {};  ///< "weft 0.1.0, commit 4a42e0168d": what trained them
};

/// Reads a sweep's directory. A trial without score or with damaged files is not done.
SweepRecord read_sweep(const std::filesystem::path& directory);

/// Whether less of a metric is better.
bool lower_is_better(const std::string& metric);

}  // namespace weft::experiments
