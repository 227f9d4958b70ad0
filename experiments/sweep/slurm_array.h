#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/hold/slurm_queue.h"
#include "experiments/sweep/plan.h"

namespace weft::experiments {

/// One array of a sweep that was handed to sbatch, kept in slurm/K of the sweep:
///   job.sh      what a task runs              trials.txt  a trial a line, by the index of the task
///   job.json    the job id and the user       INDEX.out   what a task's script printed
/// job.json comes last: a submission that was killed before it is found by its script.
struct SlurmArray {
  std::filesystem::path directory;
  std::string job;   ///< empty when it was not noted
  std::string user;  ///< a number; where it was not noted, that of this process
  std::vector<std::string> trials;

  std::filesystem::path script() const { return directory / "job.sh"; }
  std::filesystem::path list() const { return directory / "trials.txt"; }
  bool owns(const QueuedTask& task) const;
};

/// The arrays of a sweep, oldest first.
std::vector<SlurmArray> read_slurm_arrays(const SweepFiles& files);

struct SlurmOptions {
  std::vector<std::string> words;  ///< for sbatch
  Index jobs = 0;                  ///< tasks of an array that run at the same time; 0: any number
};

/// A text as a shell cuts it into words; an Error when a quote is open.
std::vector<std::string> slurm_words(const std::string& options);

/// The longest array that this Slurm takes.
std::size_t longest_slurm_array();

/// Writes the next slurm/K and hands it to sbatch, whose refusal is an Error with what it said. The
/// trials are as many as fit into one array.
SlurmArray submit_slurm_array(const SweepFiles& files, const std::vector<PlannedTrial>& trials,
                              const SlurmOptions& options);

}  // namespace weft::experiments
