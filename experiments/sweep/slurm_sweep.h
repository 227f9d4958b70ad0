#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "experiments/sweep/slurm_array.h"

namespace weft::experiments {

/// The state of a trial, from the sweep's files and Slurm's queue.
struct SlurmTrial {
  enum class State { done, failed, diverged, running, queued, lost, open };

  State state =
      State::open;  ///< lost: submitted, neither ended nor in the queue; open: never submitted
  Index step = 0;
  std::string reason, host;
};

/// In the order of the plan. The queue is asked only when something was submitted.
std::vector<SlurmTrial> slurm_trials(const SweepFiles& files, const SweepPlan& plan);

/// "3 done, 1 failed, 2 running, 5 queued, 1 lost"
std::string slurm_summary(const std::vector<SlurmTrial>& trials);

/// A line for each trial, then the summary.
void print_slurm_status(const SweepFiles& files, const SweepPlan& plan, std::ostream& out);

/// Submits the trials that are lost or open, and with `retry_failed` those that failed or
/// diverged; says so.
void submit_open_trials(const SweepFiles& files, const SweepPlan& plan, const SlurmOptions& options,
                        bool retry_failed, std::ostream& out);

}  // namespace weft::experiments
