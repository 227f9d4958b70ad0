#include "experiments/sweep/turns.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"

namespace weft::experiments {
namespace {

using Phase = TrialState::Phase;
using Trials = std::vector<std::size_t>;  // by their places in the plan

bool is_of_data(const std::pair<std::string, std::string>& setting) {
  return setting.first.starts_with("data.");
}

/// What trials that differ in nothing but their seed share, or only their data.
std::string shared_settings(const PlannedTrial& trial, bool data_alone) {
  std::string text;
  for (const auto& setting : trial.settings)
    if (setting.first != "seed" && (!data_alone || is_of_data(setting)))
      text += setting.first + '=' + setting.second + '\n';
  return text;
}

/// The trials of one arm: by rung and candidate; those at the whole budget in the rung -1.
struct Arm {
  std::map<Index, std::map<Index, Trials>> trials;
};

std::map<Index, Arm> arms_of(const SweepPlan& plan) {
  std::map<Index, Arm> arms;
  for (std::size_t i = 0; i < plan.trials.size(); ++i) {
    const TuneStage& stage = plan.trials[i].stage;
    arms[stage.arm].trials[stage.rung][stage.candidate].push_back(i);
  }
  return arms;
}

/// Sets the turns of an arm by halving its candidates rung by rung.
class ArmHalving {
 public:
  ArmHalving(const std::vector<Rung>& rungs, const std::vector<TrialOutcome>& outcomes,
             std::vector<Turn>& turns)
      : rungs_(rungs), outcomes_(outcomes), turns_(turns) {}

  void decide(const Arm& arm) {
    std::vector<Index> alive;
    if (const auto first = arm.trials.find(0); first != arm.trials.end())
      for (const auto& [candidate, trials] : first->second) alive.push_back(candidate);
    Turn turn = Turn::now;
    for (std::size_t rung = 0; rung <= rungs_.size(); ++rung) {
      const bool is_last = rung == rungs_.size();
      const auto found = arm.trials.find(is_last ? -1 : Index(rung));
      if (found == arm.trials.end()) return;
      give(found->second, alive, turn);
      if (is_last || turn == Turn::later) continue;
      std::vector<double> losses;
      bool ended = true;
      for (const Index candidate : alive) {
        const auto trials = found->second.find(candidate);
        ended = ended && trials != found->second.end() && outcomes_[trials->second[0]].ended;
        losses.push_back(ended ? outcomes_[trials->second[0]].loss : 0);
      }
      if (!ended) {
        turn = Turn::later;
        continue;
      }
      std::vector<Index> next;
      for (const std::size_t i :
           kept_candidates(losses, rung + 1 < rungs_.size() ? rungs_[rung + 1].candidates : 1))
        next.push_back(alive[i]);
      alive = std::move(next);
    }
  }

 private:
  void give(const std::map<Index, Trials>& candidates, const std::vector<Index>& alive, Turn turn) {
    for (const auto& [candidate, trials] : candidates)
      for (const std::size_t i : trials)
        turns_[i] = std::ranges::find(alive, candidate) != alive.end() ? turn : Turn::never;
  }

  const std::vector<Rung>& rungs_;
  const std::vector<TrialOutcome>& outcomes_;
  std::vector<Turn>& turns_;
};

/// Trials that differ in nothing but their seed, in the order of their seeds.
struct Entrant {
  Trials trials;
  double loss = 0;  ///< mean of the first ones
};

void prune_task(const PruneRule& rule, const std::vector<TrialOutcome>& outcomes,
                std::map<std::string, Entrant>& entrants, bool complete, std::vector<Turn>& turns) {
  double lowest = std::numeric_limits<double>::infinity();
  for (auto& [settings, entrant] : entrants) {
    const std::size_t first = std::min(entrant.trials.size(), std::size_t(rule.after));
    for (std::size_t i = 0; i < first; ++i) {
      const TrialOutcome& outcome = outcomes[entrant.trials[i]];
      complete = complete && outcome.ended;
      entrant.loss += outcome.loss / double(first);
    }
    lowest = std::min(lowest, entrant.loss);
  }
  for (const auto& [settings, entrant] : entrants)
    for (std::size_t i = std::size_t(rule.after); i < entrant.trials.size(); ++i)
      turns[entrant.trials[i]] = !complete                             ? Turn::later
                                 : rule.gives_up(entrant.loss, lowest) ? Turn::pruned
                                                                       : Turn::now;
}

void prune(const SweepPlan& plan, const std::vector<TrialOutcome>& outcomes,
           std::vector<Turn>& turns) {
  std::map<std::string, std::map<std::string, Entrant>> tasks;
  std::set<std::string> incomplete;  // tasks whose arms are still being tuned
  for (std::size_t i = 0; i < plan.trials.size(); ++i) {
    const PlannedTrial& trial = plan.trials[i];
    const std::string task = shared_settings(trial, true);
    if (turns[i] == Turn::later) incomplete.insert(task);
    if (trial.stage.is_rung() || turns[i] != Turn::now) continue;
    tasks[task][shared_settings(trial, false)].trials.push_back(i);
  }
  for (auto& [task, entrants] : tasks)
    prune_task(*plan.prune, outcomes, entrants, !incomplete.contains(task), turns);
}

struct Later {
  Index trials = 0;
  double seconds = 0;
};

/// Of the candidates that may enter a rung later, as many as the rung takes, the first ones.
Later later_sums(const SweepPlan& plan, const std::vector<Turn>& turns) {
  Later later;
  for (const auto& [number, arm] : arms_of(plan))
    for (const auto& [rung, candidates] : arm.trials) {
      Index places = rung >= 0 && std::size_t(rung) < plan.rungs.size()
                         ? plan.rungs[std::size_t(rung)].candidates
                         : 1;
      for (const auto& [candidate, trials] : candidates) {
        const Later before = later;
        for (const std::size_t i : trials)
          if (turns[i] == Turn::later && places > 0) {
            ++later.trials;
            later.seconds += plan.trials[i].seconds;
          }
        places -= later.trials > before.trials;
      }
    }
  return later;
}

}  // namespace

TrialOutcome outcome_of(const SweepFiles& files, const PlannedTrial& trial) {
  const TrialState state = state_of(files, trial);
  if (state.diverged) return {true, std::numeric_limits<double>::infinity()};
  if (state.phase != Phase::done && state.phase != Phase::trained) return {};
  TrialOutcome outcome{true, std::numeric_limits<double>::infinity()};
  // It is the last that a run measures.
  if (const auto record = last_record(RunFiles{files.run(trial.id)}.metrics()))
    for (const char* const name : {"validation_loss", "final_validation_loss"})
      if (record->has(name)) outcome.loss = record->number(name);
  return outcome;
}

std::vector<Turn> turns_of(const SweepPlan& plan, const std::vector<TrialOutcome>& outcomes) {
  std::vector<Turn> turns(plan.trials.size(), Turn::now);
  if (!plan.rungs.empty()) {
    ArmHalving halving(plan.rungs, outcomes, turns);
    for (const auto& [number, arm] : arms_of(plan)) halving.decide(arm);
  }
  if (plan.prune) prune(plan, outcomes, turns);
  return turns;
}

std::vector<Turn> turns_of(const SweepFiles& files, const SweepPlan& plan) {
  std::vector<TrialOutcome> outcomes(plan.trials.size());
  if (!plan.rungs.empty() || plan.prune)
    for (std::size_t i = 0; i < plan.trials.size(); ++i)
      outcomes[i] = outcome_of(files, plan.trials[i]);
  return turns_of(plan, outcomes);
}

Index later_trials(const SweepPlan& plan, const std::vector<Turn>& turns) {
  return later_sums(plan, turns).trials;
}

double later_seconds(const SweepPlan& plan, const std::vector<Turn>& turns) {
  return later_sums(plan, turns).seconds;
}

std::vector<std::string> open_rungs(const SweepPlan& plan, const std::vector<Turn>& turns) {
  std::vector<std::string> lines;
  if (plan.rungs.empty()) return lines;
  for (const auto& [number, arm] : arms_of(plan)) {
    Index rung = -1, candidates = 0;
    const PlannedTrial* any = nullptr;
    for (const auto& [of, all] : arm.trials)
      for (const auto& [candidate, trials] : all) {
        any = &plan.trials[trials[0]];
        if (of < 0 || turns[trials[0]] != Turn::now) continue;
        candidates = (of == rung ? candidates : 0) + 1;
        rung = of;
      }
    const auto finals = arm.trials.find(-1);
    const bool is_tuned =
        finals != arm.trials.end() && std::ranges::none_of(finals->second, [&](const auto& entry) {
          return std::ranges::any_of(entry.second,
                                     [&](std::size_t i) { return turns[i] == Turn::later; });
        });
    TrialSettings name;
    for (const auto& setting : any->settings)
      if (setting.first != "seed" &&
          std::ranges::find(plan.tuned, setting.first) == plan.tuned.end())
        name.push_back(setting);
    const std::string shown = name.empty() ? std::string("the only arm") : label_of(name);
    lines.push_back(shown + (is_tuned ? std::string(": tuned")
                                      : ": rung " + std::to_string(rung + 1) + " of " +
                                            std::to_string(plan.rungs.size()) + ", " +
                                            std::to_string(candidates) + " candidates"));
  }
  return lines;
}

}  // namespace weft::experiments
