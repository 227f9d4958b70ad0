#include "experiments/hold/slurm_queue.h"

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "core/error.h"
#include "experiments/hold/outside_program.h"

namespace weft::experiments {
namespace {

/// The text before the next bar; both are removed.
std::string cut(std::string& line) {
  const std::size_t bar = line.find('|');
  const std::string part = line.substr(0, bar);
  line.erase(0, bar == std::string::npos ? bar : bar + 1);
  return part;
}

bool read_number(const std::string& text, core::Index& number) {
  const char* end = text.data() + text.size();
  return !text.empty() && std::from_chars(text.data(), end, number).ptr == end;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

SlurmJob SlurmJob::own() {
  SlurmJob job;
  if (const char* id = std::getenv("SLURM_JOB_ID")) job.id = id;
  if (const char* restarts = std::getenv("SLURM_RESTART_COUNT"))
    read_number(restarts, job.restarts);
  return job;
}

std::vector<QueuedTask> read_slurm_queue(const std::set<std::string>& users) {
  std::string names;
  for (const std::string& user : users) names += (names.empty() ? "" : ",") + user;
  const auto result = run_outside(
      {"squeue", "--array", "--noheader", "--user=" + names, "--format=%F|%K|%T|%N|%o"});
  core::require(result.has_value(),
                "Slurm's queue cannot be read: there is no squeue here; use a machine of the "
                "cluster from which jobs are submitted");
  core::require(result->code == 0, "Slurm's queue cannot be read: squeue ended with exit code ",
                result->code, ": ", first_line(result->err));
  std::vector<QueuedTask> tasks;
  std::istringstream lines(result->out);
  for (std::string line; std::getline(lines, line);) {
    QueuedTask task;
    task.array = cut(line);
    const bool is_task = read_number(cut(line), task.index);
    task.state = cut(line);
    task.host = cut(line);
    task.command = line;
    if (is_task) tasks.push_back(std::move(task));
  }
  return tasks;
}

bool slurm_has_forgotten(const std::string& job) {
  const auto result = run_outside({"squeue", "--noheader", "--jobs=" + job, "--format=%T"});
  if (!result) return false;
  if (result->code == 0) return result->out.empty();
  return result->err.find("Invalid job id") != std::string::npos;
}

}  // namespace weft::experiments
