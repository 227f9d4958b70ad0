#include "experiments/sweep/equal_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

/// Trials at the whole budget by their data.
std::map<std::string, std::vector<const PlannedTrial*>> tasks_of(const SweepPlan& plan) {
  std::map<std::string, std::vector<const PlannedTrial*>> tasks;
  for (const PlannedTrial& trial : plan.trials) {
    TrialSettings data;
    for (const auto& setting : trial.settings)
      if (setting.first.starts_with("data.")) data.push_back(setting);
    if (!trial.stage.is_rung()) tasks[label_of(data)].push_back(&trial);
  }
  return tasks;
}

double amount_of(const EqualRule& rule, const PlannedTrial& trial) {
  return rule.what == "parameters" ? double(trial.parameters) : trial.flops;
}

std::string amount_text(const EqualRule& rule, double amount) {
  return rule.what == "parameters" ? format_count(amount) + " parameters"
                                   : format_fixed(amount / 1e9, 1) + " Gflop";
}

/// What names an arm: its settings but for the seed and what it tunes.
std::string arm_of(const SweepPlan& plan, const PlannedTrial& trial) {
  TrialSettings name;
  for (const auto& setting : trial.settings)
    if (setting.first != "seed" && std::ranges::find(plan.tuned, setting.first) == plan.tuned.end())
      name.push_back(setting);
  return label_of(name);
}

std::string advice_for(const EqualRule& rule, double smallest) {
  const std::string tolerance = ", or raise equal_within";
  if (rule.what == "parameters")
    return "change model.ff, model.width or model.layers of those that are too large or too small, "
           "each in a [[list]] beside its attention" +
           tolerance;
  return "give every trial the same arithmetic with train.flops = " + format_exact(smallest) +
         " in place of train.tokens or train.steps" + tolerance;
}

void check_time(const SweepPlan& plan, const Budget& budget) {
  if (budget.key == "minutes") return;
  double longest = 0;
  for (const PlannedTrial& trial : plan.trials)
    if (!trial.stage.is_rung()) longest = std::max(longest, trial.seconds - trial.scoring_seconds);
  const double minutes = longest > 0 ? std::max(0.1, std::ceil(longest / 6) / 10) : 10;
  throw core::Error(
      core::Fault::usage,
      "equal = \"time\": the budget of the trials is " +
          (budget.key.empty() ? std::string("not the same") : "train." + budget.text()) +
          ", which takes some longer than others",
      "Give every trial the same time with train.minutes = " + format_exact(minutes) +
          " in place of it");
}

}  // namespace

void check_equal(const SweepPlan& plan, const Budget& budget) {
  if (!plan.equal) return;
  const EqualRule& rule = *plan.equal;
  if (rule.what == "time") return check_time(plan, budget);
  std::string wrong;
  double smallest = 0;
  for (const auto& [task, trials] : tasks_of(plan)) {
    const auto amount = [&](const PlannedTrial* trial) { return amount_of(rule, *trial); };
    const auto [low, high] = std::ranges::minmax(trials, {}, amount);
    if (amount(high) <= (1 + rule.within) * amount(low)) continue;
    smallest = smallest == 0 ? amount(low) : std::min(smallest, amount(low));
    wrong += "\n  " + (task.empty() ? "" : task + ": ") + arm_of(plan, *high) + " has " +
             amount_text(rule, amount(high)) + ", " +
             format_fixed(100 * (amount(high) / amount(low) - 1), 1) + " % more than " +
             arm_of(plan, *low) + " with " + amount_text(rule, amount(low));
  }
  if (wrong.empty()) return;
  throw core::Error(core::Fault::usage,
                    "equal = \"" + rule.what + "\", within " + format_exact(100 * rule.within) +
                        " %, does not hold:" + wrong,
                    "To compare like with like, " + advice_for(rule, smallest));
}

std::string describe_equal(const SweepPlan& plan) {
  if (!plan.equal) return "";
  if (plan.equal->what == "time") return "equal time: train." + plan.budget;
  std::string text =
      "equal " + plan.equal->what + ", within " + format_exact(100 * plan.equal->within) + " %";
  const char* before = ": ";
  for (const auto& [task, trials] : tasks_of(plan)) {
    const auto [low, high] = std::ranges::minmax(
        trials, {}, [&](const PlannedTrial* trial) { return amount_of(*plan.equal, *trial); });
    text += before + amount_text(*plan.equal, amount_of(*plan.equal, *low)) + " to " +
            amount_text(*plan.equal, amount_of(*plan.equal, *high)) +
            (task.empty() ? "" : " (" + task + ")");
    before = "; ";
  }
  return text;
}

}  // namespace weft::experiments
