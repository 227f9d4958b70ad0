#include "experiments/sweep/slurm_sweep.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "experiments/run/failure.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"
#include "experiments/sweep/turns.h"

namespace weft::experiments {
namespace {

using State = SlurmTrial::State;
using Phase = TrialState::Phase;

constexpr std::pair<State, const char*> names[] = {
    {State::done, "done"},       {State::failed, "failed"}, {State::diverged, "diverged"},
    {State::running, "running"}, {State::queued, "queued"}, {State::lost, "lost"},
    {State::open, "open"}};

/// Nothing but a retry runs it again.
bool has_failed(State state) { return state == State::failed || state == State::diverged; }

std::string name_of(State state) {
  return std::ranges::find(names, state, &std::pair<State, const char*>::first)->second;
}

/// The tasks in the queue by their trials; a trial that was submitted but has no task there is
/// mapped to an empty one.
std::map<std::string, QueuedTask> submitted_trials(const SweepFiles& files) {
  std::map<std::string, QueuedTask> tasks;
  const std::vector<SlurmArray> arrays = read_slurm_arrays(files);
  if (arrays.empty()) return tasks;
  std::set<std::string> users;
  for (const SlurmArray& array : arrays) users.insert(array.user);
  for (const SlurmArray& array : arrays)
    for (const std::string& id : array.trials) tasks[id];
  for (const QueuedTask& task : read_slurm_queue(users))
    for (const SlurmArray& array : arrays)
      if (array.owns(task)) tasks[array.trials[std::size_t(task.index)]] = task;
  return tasks;
}

SlurmTrial trial_of(const SweepFiles& files, const PlannedTrial& planned, const QueuedTask* task) {
  const std::string& id = planned.id;
  const TrialState known = state_of(files, planned);
  SlurmTrial trial{.state = State::open, .step = known.step, .reason = known.reason, .host = {}};
  const auto record = last_record(RunFiles{files.run(id)}.metrics());
  if (record) trial.step = std::max(trial.step, Index(record->step));
  const auto failure = read_failure(files.failure(id));
  if (known.phase == Phase::done) {
    trial.state = State::done;
  } else if (task && !task->array.empty()) {
    trial.state = task->host.empty() ? State::queued : State::running;
    trial.host = task->host;
  } else if (known.phase == Phase::failed || failure) {
    trial.state = known.diverged ? State::diverged : State::failed;
    if (known.phase != Phase::failed) trial.reason = in_one_line(failure->reason);
  } else if (task) {
    trial.state = State::lost;
  }
  return trial;
}

std::string line_of(const PlannedTrial& planned, const SlurmTrial& trial) {
  std::string line = name_of(trial.state);
  line.resize(std::max<std::size_t>(line.size(), 10), ' ');
  line += planned.id + "  " + planned.label();
  const std::string step =
      "  step " + std::to_string(trial.step) + "/" + std::to_string(planned.steps);
  if (trial.state == State::running) line += step + " on " + trial.host;
  if (has_failed(trial.state)) line += "  " + trial.reason;
  if (trial.state == State::lost) line += step;
  return line;
}

}  // namespace

std::vector<SlurmTrial> slurm_trials(const SweepFiles& files, const SweepPlan& plan) {
  const auto submitted = submitted_trials(files);
  std::vector<SlurmTrial> trials;
  for (const PlannedTrial& planned : plan.trials) {
    const auto found = submitted.find(planned.id);
    trials.push_back(trial_of(files, planned, found == submitted.end() ? nullptr : &found->second));
  }
  return trials;
}

namespace {

/// What has become of the trials whose turn it is.
struct SlurmState {
  std::vector<PlannedTrial> planned;
  std::vector<SlurmTrial> trials;
  std::vector<Turn> turns;

  SlurmState(const SweepFiles& files, const SweepPlan& plan) : turns(turns_of(files, plan)) {
    const std::vector<SlurmTrial> all = slurm_trials(files, plan);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (turns[i] == Turn::now) {
        planned.push_back(plan.trials[i]);
        trials.push_back(all[i]);
      }
  }

  /// The summary; of a sweep that tunes also the open rungs, and what follows them.
  void print(const SweepPlan& plan, std::ostream& out) const {
    for (const std::string& rung : open_rungs(plan, turns)) out << rung << '\n';
    out << trials.size() << " trials: " << slurm_summary(trials) << '\n';
    if (const Index later = later_trials(plan, turns); later > 0)
      out << later
          << " more follow when these have ended: call weft sweep with --slurm again then\n";
  }
};

}  // namespace

std::string slurm_summary(const std::vector<SlurmTrial>& trials) {
  std::string text;
  for (const auto& [state, name] : names)
    if (const auto count = std::ranges::count(trials, state, &SlurmTrial::state); count > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  return text;
}

void print_slurm_status(const SweepFiles& files, const SweepPlan& plan, std::ostream& out) {
  const SlurmState now(files, plan);
  for (std::size_t i = 0; i < now.trials.size(); ++i)
    out << line_of(now.planned[i], now.trials[i]) << '\n';
  now.print(plan, out);
}

void submit_open_trials(const SweepFiles& files, const SweepPlan& plan, const SlurmOptions& options,
                        bool retry_failed, std::ostream& out) {
  const SlurmState now(files, plan);
  now.print(plan, out);
  std::vector<PlannedTrial> open;
  for (std::size_t i = 0; i < now.trials.size(); ++i) {
    const State state = now.trials[i].state;
    if (state == State::open || state == State::lost || (has_failed(state) && retry_failed))
      open.push_back(now.planned[i]);
  }
  if (open.empty()) {
    out << "nothing to submit\n";
    return;
  }
  const std::size_t longest = longest_slurm_array();
  for (std::size_t first = 0; first < open.size(); first += longest) {
    const std::size_t count = std::min(longest, open.size() - first);
    const std::vector<PlannedTrial> part(open.begin() + std::ptrdiff_t(first),
                                         open.begin() + std::ptrdiff_t(first + count));
    const SlurmArray array = submit_slurm_array(files, part, options);
    out << "submitted job " << array.job << " with " << count
        << (count == 1 ? " trial\n" : " trials\n") << std::flush;
  }
}

}  // namespace weft::experiments
