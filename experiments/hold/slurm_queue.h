#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

/// The job that Slurm runs this process in, from the environment; `id` is empty outside of jobs.
struct SlurmJob {
  std::string id;
  core::Index restarts = 0;  ///< how often it was requeued

  static SlurmJob own();
};

/// A task of an array that is in the queue: waiting, running or about to end.
struct QueuedTask {
  std::string array;  ///< the job id of the array
  core::Index index = 0;
  std::string state;    ///< "RUNNING"
  std::string host;     ///< empty while it waits
  std::string command;  ///< the script
};

/// All tasks of arrays of these users (numbers), as squeue shows them; an Error when it cannot be
/// asked: to take that for an empty queue would submit twice.
std::vector<QueuedTask> read_slurm_queue(const std::set<std::string>& users);

/// Whether Slurm says that it has no such job any more. False when it cannot be asked.
bool slurm_has_forgotten(const std::string& job);

}  // namespace weft::experiments
