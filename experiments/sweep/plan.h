#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/real.h"
#include "experiments/sweep/rules/equal_rule.h"
#include "experiments/sweep/rules/halving.h"
#include "experiments/sweep/rules/prune_rule.h"

namespace weft::experiments {

inline constexpr std::size_t most_trials = 10'000;  // of a sweep

using core::Index;

/// What a sweep varies, resolved: ("model.attention", "lsh"), ("seed", "2").
using TrialSettings = std::vector<std::pair<std::string, std::string>>;
/// "attention=lsh lr=3e-3 seed=2"
std::string label_of(const TrialSettings& settings);

/// Where a trial of a sweep with [tune] belongs.
struct TuneStage {
  Index arm = 0;
  Index candidate = 0;
  Index rung = -1;  ///< -1: the comparison itself, at the whole budget

  bool is_rung() const { return rung >= 0; }
};

/// A trial as the plan of a sweep keeps it: all that a report needs besides what the run measured.
struct PlannedTrial {
  std::string id;
  TrialSettings settings;  ///< those that distinguish it from other trials
  Index parameters = 0;
  Index steps = 0;
  Index tokens = 0;        ///< read in all steps
  double flops = 0;        ///< useful arithmetic of all steps, by the cost model
  Index length = 0;        ///< tokens in a sequence
  std::string unit;        ///< what a token is
  bool leaks = false;      ///< training or attention reads the future
  std::string split;       ///< what the trial is scored on: test, or validation where there is none
  std::string checkpoint;  ///< best or last: the one that is scored
  double seconds = 0;      ///< expected on the threads of one job; 0 when unknown
  double scoring_seconds = 0;  ///< the part of them that weft eval takes
  Index eval_tokens = 0;       ///< of the split that is scored; 0: all of it
  TuneStage stage = {};
  /// Of the first step, where this trial was the one that was timed; not kept in sweep.json.
  double first_loss = 0, first_gradient = 0;

  /// "attention=lsh lr=3e-3 seed=2", and the rung of a candidate.
  std::string label() const;
  /// The value of a varied setting, empty when this trial has none.
  std::string value_of(const std::string& key) const;
};

/// sweep.json: what a sweep consists of.
struct SweepPlan {
  std::string name;     ///< of the sweep file, without its ending
  std::string command;  ///< what the user typed: the sweep file and settings
  std::string budget;   ///< "tokens = 1000000", or empty when the trials' budgets differ
  std::vector<PlannedTrial> trials;
  std::string options = {};             ///< what followed it, such as " -j 2 --dir sweeps/a"
  std::vector<std::string> tuned = {};  ///< the settings that arms choose for themselves
  std::vector<Rung> rungs = {};         ///< in which they do
  std::optional<PruneRule> prune = {};
  std::optional<EqualRule> equal = {};
};

/// The files of a sweep:
///   sweep.json     the plan               trials/ID       the run directory of a trial
///   configs/ID.toml its resolved config   logs/ID.log     what its processes printed
///   scores/ID.json its score              logs/ID.failure why its last process failed
struct SweepFiles {
  std::filesystem::path directory;

  std::filesystem::path plan() const { return directory / "sweep.json"; }
  std::filesystem::path run(const std::string& id) const { return directory / "trials" / id; }
  std::filesystem::path config(const std::string& id) const {
    return directory / "configs" / (id + ".toml");
  }
  std::filesystem::path log(const std::string& id) const {
    return directory / "logs" / (id + ".log");
  }
  std::filesystem::path failure(const std::string& id) const {
    return directory / "logs" / (id + ".failure");
  }
  std::filesystem::path score(const std::string& id) const {
    return directory / "scores" / (id + ".json");
  }
};

void write_plan(const SweepFiles& files, const SweepPlan& plan);
/// An Error (Fault::usage) when the directory holds no sweep.
SweepPlan read_plan(const SweepFiles& files);

/// The progress of a trial. Everything is read from its files, so a sweep that was killed at any
/// moment can continue.
struct TrialState {
  enum class Phase { waiting, trained, done, failed };  ///< trained: but not scored

  Phase phase = Phase::waiting;
  Index step = 0;
  std::string reason = {};  ///< of a failure, in one line
  bool diverged = false;    ///< it failed since its loss was no number any more, at that step
};
/// The first line of a reason, which may list many problems.
std::string in_one_line(const std::string& reason);
TrialState state_of(const SweepFiles& files, const std::string& id);
/// The same; a trial of a rung is done when it is trained, any other when it is scored as planned.
TrialState state_of(const SweepFiles& files, const PlannedTrial& trial);

}  // namespace weft::experiments
