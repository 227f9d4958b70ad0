#pragma once

#include <string>
#include <vector>

#include "experiments/report/comparison.h"

namespace weft::experiments {

/// A finished trial of a mechanism with a seed, and its bits.
inline TrialRecord finished_trial(TrialSettings settings, double bits) {
  TrialRecord record;
  record.plan.settings = std::move(settings);
  record.plan.split = "test";
  record.plan.unit = "byte";
  record.plan.steps = 100;
  record.plan.tokens = 1000;
  record.plan.parameters = 10;
  record.plan.flops = 1e9;
  record.state.phase = TrialState::Phase::done;
  record.best_validation = bits;
  record.validation = {{25, 50, 75, 100}, {bits, bits, bits, bits}};
  record.scores["bits"] = bits;
  record.tokens_per_s = 1000;
  record.peak_bytes = 1e6;
  return record;
}

/// A row of a sweep: one trial for each of these bits, with the seeds 1, 2, ...
inline void add_row(SweepRecord& sweep, const std::string& name, const std::vector<double>& bits) {
  for (std::size_t i = 0; i < bits.size(); ++i)
    sweep.trials.push_back(
        finished_trial({{"model.attention", name}, {"seed", std::to_string(i + 1)}}, bits[i]));
}

}  // namespace weft::experiments
