#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/evaluate/statistics.h"
#include "experiments/report/trial_record.h"

namespace weft::experiments {

/// A setting that was chosen on validation, and the values to choose from.
struct TriedSetting {
  std::string key, chosen;
  std::vector<std::string> values;  ///< each once
};

/// What an arm tried before it was compared, one candidate.
struct TunedCandidate {
  std::string settings;
  std::vector<double> losses;  ///< validation at the end of each rung that it entered
  bool diverged = false;
  bool chosen = false;
  bool undecided = false;  ///< its rung has not ended
};

/// One system on one task: the trials that differ in nothing but their seed.
struct ComparedRow {
  std::string name;
  TrialSettings settings;  ///< that name it
  std::string chosen;  ///< further settings, chosen on validation; empty when there was no choice
  std::vector<TriedSetting> tried;
  std::vector<TunedCandidate> candidates;  ///< of sweeps that tune
  Index planned = 0;                       ///< seeds
  bool pruned = false;                     ///< it got no more seeds
  std::vector<const TrialRecord*> done;
  std::map<std::string, Statistic> scores;
  bool moving = false;  ///< trials of it have not finished: its numbers can still change
  bool leaks = false;
  Statistic leak_bits;             ///< what a token costs more when the future is cut off
  std::vector<std::string> notes;  ///< what is missing, and why

  Statistic tokens_per_s, train_seconds, peak_bytes;  ///< measured
  double flops = not_measured;
  Index parameters = 0;

  /// The name, followed by whether and how much it leaks, and by a star while it moves.
  std::string marked_name() const;
};

/// The rows that compete on the same data, best first; those without a result last.
struct ComparedTask {
  std::string name;    ///< "recall, length 128"
  std::string family;  ///< of the tasks that differ in length alone: "recall"
  std::string unit, split;
  Index length = 0;
  Index eval_tokens = 0;             ///< of the split that are scored; 0: all
  std::vector<std::string> metrics;  ///< what is scored, the one that ranks first
  double floor_bits = not_measured, chance = not_measured;
  bool classifies = false;                  ///< every sequence has one answer
  std::map<std::string, double> baselines;  ///< accuracy without a model
  std::map<std::string, double> bits_baselines;
  std::vector<ComparedRow> rows;
};

struct Comparison {
  std::string by;  ///< what the rows are named after
  std::string baseline;
  std::vector<ComparedTask> tasks;
};

struct ComparisonOptions {
  std::string by = {};        ///< a varied setting; empty: model.attention if it varies, else all
  std::string metric = {};    ///< empty: all that the task has
  std::string baseline = {};  ///< the name of a row, or empty
};

/// Sorts the trials of a sweep into tasks (settings of [data] that vary) and rows. Other settings
/// that vary, except the seed, are chosen for each row by the mean of the best validation loss,
/// and only then scored. Trials that are not done are noted and never averaged. The records must
/// outlive the result.
Comparison compare(const SweepRecord& sweep, const ComparisonOptions& options);

}  // namespace weft::experiments
