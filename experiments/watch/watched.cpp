#include "experiments/watch/watched.h"

#include <algorithm>

#include "core/error.h"
#include "experiments/run_pages/run_page.h"
#include "experiments/runs/run_list.h"
#include "experiments/sweep/turns.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_runs = 10;  // whose curves can be distinguished

/// Changes whenever one of the files does.
std::string stamp_of(const fs::path& directory) {
  std::string stamp;
  const RunFiles files{directory};
  for (const fs::path& file :
       {files.status(), files.metrics(), files.environment(), files.config(), files.samples()}) {
    std::error_code fault;
    const auto time = fs::last_write_time(file, fault);
    stamp += fault ? "-;" : std::to_string(time.time_since_epoch().count()) + ";";
    const auto size = fs::is_regular_file(file, fault) ? fs::file_size(file, fault) : 0;
    stamp += std::to_string(size) + ";";
  }
  return stamp;
}

std::string state_text(const TrialState& state, const RunRecord& run) {
  using Phase = TrialState::Phase;
  if (state.phase == Phase::done) return "done";
  if (state.phase == Phase::failed) return state.diverged ? "diverged" : "failed";
  if (state.phase == Phase::trained) return "scoring";
  return run.state == "unknown" ? "waiting" : run.state;
}

/// "32 dense seed 1" for length=32 attention=dense seed=1: short enough for the end of a curve.
std::string short_name(const PlannedTrial& trial) {
  std::string name;
  for (const auto& [key, value] : trial.settings)
    name += (name.empty() ? "" : " ") + (key == "seed" ? "seed " + value : value);
  if (trial.stage.is_rung()) name += " rung " + std::to_string(trial.stage.rung + 1);
  return name.empty() ? trial.id : name;
}

/// Those that run, then those that changed last.
int order_of(const WatchedTrial& trial) {
  return trial.state == "running" ? 0 : trial.state == "waiting" ? 2 : 1;
}

}  // namespace

const RunRecord& Watched::run_at(const fs::path& directory) {
  Known& known = known_[directory];
  const std::string stamp = stamp_of(directory);
  if (known.stamp != stamp) {
    known.record = read_run(directory);
    known.stamp = stamp;
  }
  // A process that ends leaves no trace in its files.
  known.record.state = state_now({directory}, known.record.status);
  if (known.record.state.empty()) known.record.state = "unknown";
  return known.record;
}

void Watched::look_at_sweep(WatchedState& state) {
  const SweepFiles files{place_};
  const SweepPlan plan = read_plan(files);
  state.is_sweep = true;
  state.title = plan.name;
  Index running = 0;
  std::vector<std::pair<int, std::size_t>> shown;  // by their places in the plan
  const std::vector<Turn> turns = turns_of(files, plan);
  double left = later_seconds(plan, turns);
  state.later = later_trials(plan, turns);
  for (std::size_t i = 0; i < plan.trials.size(); ++i) {
    const PlannedTrial& planned = plan.trials[i];
    if (turns[i] != Turn::now) continue;
    const fs::path directory = files.run(planned.id);
    const TrialState phase = state_of(files, planned);
    const RunRecord& run = run_at(directory);
    WatchedTrial trial{planned.id,   planned.label(),     state_text(phase, run),
                       run.step,     planned.steps,       run.seconds_left(),
                       phase.reason, best_validation(run)};
    if (trial.state == "done" || trial.state == "scoring") trial.step = trial.steps;
    running += trial.state == "running";
    if (trial.state == "running" && trial.seconds_left >= 0) left += trial.seconds_left;
    if (trial.state == "waiting") left += planned.seconds;
    if (run.step > 0) shown.emplace_back(order_of(trial), i);
    state.trials.push_back(std::move(trial));
  }
  if (left > 0) state.seconds_left = left / double(std::max<Index>(running, 1));
  std::ranges::stable_sort(shown, {}, &std::pair<int, std::size_t>::first);
  for (std::size_t i = 0; i < std::min(shown.size(), most_runs); ++i) {
    const PlannedTrial& planned = plan.trials[shown[i].second];
    state.runs.push_back(run_at(files.run(planned.id)));
    state.runs.back().name = short_name(planned);
  }
}

WatchedState Watched::look() {
  WatchedState state;
  state.title = place_.lexically_normal().string();
  std::error_code fault;
  if (!fs::is_directory(place_, fault)) return state;
  try {
    if (fs::is_regular_file(SweepFiles{place_}.plan(), fault)) {
      look_at_sweep(state);
    } else if (holds_run(place_)) {
      state.runs.push_back(run_at(place_));
    } else {
      std::vector<RunSummary> below = find_runs(place_);
      std::ranges::stable_sort(below, {}, &RunSummary::age);
      for (std::size_t i = 0; i < std::min(below.size(), most_runs); ++i)
        state.runs.push_back(run_at(below[i].directory));
    }
  } catch (const core::Error&) {
    // Half of it is there: the next look sees more.
  } catch (const fs::filesystem_error&) {
    // It went away while we looked.
  }
  return state;
}

}  // namespace weft::experiments
