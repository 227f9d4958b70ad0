#pragma once

#include <string>

#include "experiments/sweep/plan.h"

namespace weft::experiments {

/// The script of one task of an array, for bash: takes the line of trials.txt that the task's index
/// names ("ID SPLIT CHECKPOINT"), trains that trial with `program` unless it is trained, and scores
/// it. A signal is passed on, so that the trial saves; stopped trials go back into the queue, and
/// two lives without a step of progress are a failure. Ends with the exit code of what failed.
std::string slurm_script(const SweepFiles& files, const std::filesystem::path& trials,
                         const std::filesystem::path& program);

/// The line of trials.txt.
std::string slurm_line(const PlannedTrial& trial);

}  // namespace weft::experiments
