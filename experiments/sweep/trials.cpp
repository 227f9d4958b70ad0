#include "experiments/sweep/trials.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/error.h"
#include "experiments/config/problem.h"
#include "experiments/config/text.h"
#include "experiments/config/toml.h"
#include "experiments/console/number_text.h"
#include "experiments/sweep/shorter_run.h"

namespace weft::experiments {
namespace {

using Choice = std::vector<const Assignment*>;  // one alternative of each axis, put together

constexpr Index most_candidates = 10'000;

std::vector<Choice> product(const std::vector<SweepAxis>& axes) {
  std::vector<Choice> all{{}};
  for (const SweepAxis& axis : axes) {
    core::require(all.size() * axis.alternatives.size() <= most_trials, "the sweep has more than ",
                  most_trials, " trials: vary less at a time");
    std::vector<Choice> next;
    for (const Choice& choice : all)
      for (const Assignments& alternative : axis.alternatives) {
        next.push_back(choice);
        for (const Assignment& assignment : alternative) next.back().push_back(&assignment);
      }
    all = std::move(next);
  }
  return all;
}

ConfigTree tree_of(const ConfigTree& base, const Choice& choice, const std::string& without = "") {
  ConfigTree tree = base;
  for (const Assignment* assignment : choice)
    if (assignment->key != without) tree = tree.with(assignment->key, assignment->value);
  return tree;
}

RunConfig resolve(const ConfigTree& base, const Choice& choice, const std::string& without = "") {
  return RunConfig::read(tree_of(base, choice, without));
}

std::string text_of(const ConfigNode& node) {
  return std::visit(
      [](const auto& value) -> std::string {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, ConfigNode::Table>)
          return "a table";
        else if constexpr (std::is_same_v<Value, ConfigNode::List>) {
          std::string text;
          for (const ConfigNode& item : value) text += (text.empty() ? "" : ", ") + text_of(item);
          return text;
        } else if constexpr (std::is_same_v<Value, std::string>)
          return value;
        else if constexpr (std::is_same_v<Value, double>)
          return format_exact(value);
        else
          return toml_text(value);
      },
      node.value);
}

/// The problems of a sweep: each once, with the first trial that has it unless all do.
class TrialProblems {
 public:
  explicit TrialProblems(std::vector<ConfigProblem> of_the_file)
      : others_(std::move(of_the_file)) {}

  void add(const std::vector<ConfigProblem>& problems) {
    others_.insert(others_.end(), problems.begin(), problems.end());
  }
  void add(const std::vector<ConfigProblem>& problems, const Choice& choice) {
    std::string trial;
    for (const Assignment* assignment : choice)
      trial += (trial.empty() ? "" : ", ") + assignment->key + " = " + text_of(assignment->value);
    for (const ConfigProblem& problem : problems) {
      const auto [found, is_new] = found_.try_emplace(problem.text(), Found{problem, trial, 0});
      if (is_new) order_.push_back(problem.text());
      ++found->second.trials;
    }
  }
  void raise(std::size_t trials) const {
    std::vector<ConfigProblem> all = others_;
    for (const std::string& text : order_) {
      const Found& found = found_.at(text);
      ConfigProblem& problem = all.emplace_back(found.problem);
      if (found.trials < trials) problem.message += " (in the trial " + found.trial + ")";
    }
    raise_if_any(std::move(all));
  }

 private:
  struct Found {
    ConfigProblem problem;
    std::string trial;
    std::size_t trials;
  };
  std::vector<ConfigProblem> others_;
  std::map<std::string, Found> found_;
  std::vector<std::string> order_;
};

/// The base, and what is wrong with it.
ConfigTree load_base(const SweepFile& sweep, const std::vector<std::string>& arguments,
                     TrialProblems& problems) {
  try {
    return ConfigTree::load(sweep.base, arguments);
  } catch (const ConfigError& error) {
    problems.add(error.problems());
    problems.raise(0);
    throw;
  }
}

/// The config of every choice, or an error with all that is wrong.
std::vector<RunConfig> read_all(const ConfigTree& base, const std::vector<Choice>& choices,
                                TrialProblems& problems) {
  std::vector<RunConfig> configs;
  for (const Choice& choice : choices) try {
      configs.push_back(resolve(base, choice));
    } catch (const ConfigError& error) {
      problems.add(error.problems(), choice);
    }
  problems.raise(choices.size());
  return configs;
}

/// Where choice number i of a sweep with [tune] belongs: seeds vary fastest, then candidates.
TuneStage stage_of(const SweepFile& sweep, std::size_t i) {
  std::size_t seeds = 1, candidates = 1;
  for (const SweepAxis& axis : sweep.axes) {
    if (axis.origin == SweepAxis::Origin::seeds) seeds = axis.alternatives.size();
    if (axis.origin == SweepAxis::Origin::tune) candidates = axis.alternatives.size();
  }
  return {Index(i / (seeds * candidates)), Index(i / seeds % candidates), -1};
}

/// Adds the trials of the rungs, with the first seed, made of those at the whole budget, and sorts
/// all of them.
void add_rungs(const SweepFile& sweep, const ConfigTree& base, const std::vector<Choice>& choices,
               TrialProblems& problems, std::vector<Trial>& trials) {
  std::vector<Trial> shorter;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const TuneStage stage = stage_of(sweep, i);
    const bool is_first_seed = i == 0 || stage_of(sweep, i - 1).candidate != stage.candidate ||
                               stage_of(sweep, i - 1).arm != stage.arm;
    trials[i].stage = stage;
    for (std::size_t rung = 0; is_first_seed && rung < sweep.rungs.size(); ++rung) try {
        RunConfig config =
            shorter_run(tree_of(base, choices[i]), trials[i].config, sweep.rungs[rung].share);
        Trial trial{.id = {},
                    .config = std::move(config),
                    .settings = trials[i].settings,
                    .stage = {stage.arm, stage.candidate, Index(rung)}};
        trial.id = trial.config.identity().substr(0, 8);
        shorter.push_back(std::move(trial));
      } catch (const ConfigError& error) {
        problems.add(error.problems(), choices[i]);
      }
  }
  problems.raise(choices.size() * sweep.rungs.size());
  std::ranges::move(shorter, std::back_inserter(trials));
  std::ranges::stable_sort(trials, {}, [](const Trial& trial) {
    const TuneStage& stage = trial.stage;
    return std::tuple(stage.arm, stage.is_rung() ? stage.rung : most_candidates, stage.candidate);
  });
}

/// Whether a run has all of these settings, however its config spells them.
bool matches(const RunConfig& config, const Assignments& settings) {
  return std::ranges::all_of(settings, [&](const Assignment& s) {
    const std::string value = config.resolved.value_of(s.key);
    return !value.empty() && shown_value(value) == text_of(s.value);
  });
}

/// A setting that no trial would miss varies in vain.
void refuse_useless_axes(const SweepFile& sweep, const ConfigTree& base,
                         const std::vector<Choice>& choices, const std::vector<Trial>& trials) {
  const auto changes = [&](const std::string& key, std::size_t i) {
    try {
      return resolve(base, choices[i], key).identity() != trials[i].config.identity();
    } catch (const core::Error&) {
      return true;  // the trial cannot do without it
    }
  };
  for (const SweepAxis& axis : sweep.axes) {
    // One seed is how many repetitions there are, not what varies.
    if (axis.origin == SweepAxis::Origin::seeds && axis.alternatives.size() == 1) continue;
    for (const std::string& key : axis.keys()) {
      bool useful = false;
      for (std::size_t i = 0; i < choices.size() && !useful; ++i) useful = changes(key, i);
      core::require(useful, sweep.path, ": varying ", key,
                    " changes nothing: every trial has that value anyway, or the results do not "
                    "depend on it; remove it");
    }
  }
}

void refuse_equal_trials(const SweepFile& sweep, const std::vector<Trial>& trials) {
  std::map<std::string, const Trial*> seen;
  for (const Trial& trial : trials) {
    const auto [other, is_new] = seen.emplace(trial.id, &trial);
    core::require(is_new, sweep.path, ": two trials are the same run: ", other->second->label(),
                  "; and ", trial.label(), ": give each setting a value once");
  }
}

std::vector<Trial> without_excluded(const SweepFile& sweep, std::vector<Trial> trials) {
  for (std::size_t i = 0; i < sweep.excluded.size(); ++i) {
    const std::size_t left_out = std::erase_if(
        trials, [&](const Trial& trial) { return matches(trial.config, sweep.excluded[i]); });
    core::require(left_out > 0, sweep.excluded_at[i].text(),
                  ": this exclude matches no trial; correct or remove it");
  }
  core::require(!trials.empty(), sweep.path, ": the excludes leave no trial");
  return trials;
}

/// Settings that are the same wherever they occur distinguish no trials.
void forget_constant_settings(std::vector<Trial>& trials) {
  std::map<std::string, std::set<std::string>> values;
  for (const Trial& trial : trials)
    for (const auto& [key, value] : trial.settings) values[key].insert(value);
  for (Trial& trial : trials)
    std::erase_if(trial.settings, [&](const auto& s) { return values.at(s.first).size() == 1; });
}

}  // namespace

std::string shown_value(const std::string& toml) {
  std::vector<ConfigProblem> ignored;
  const auto node = parse_toml("v = " + toml, "", ignored);
  return node ? text_of(node->table()->at("v")) : toml;
}

std::vector<Trial> trials_of(const SweepFile& sweep, const std::vector<std::string>& arguments) {
  TrialProblems problems(sweep.problems);
  if (sweep.base.empty()) problems.raise(0);
  const ConfigTree base = load_base(sweep, arguments, problems);
  std::vector<std::string> keys;
  for (const SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys()) keys.push_back(key);
  for (const std::string& key : keys) {
    const ConfigNode* node = base.find(key);
    core::require(!node || node->origin.place != ConfigOrigin::Place::command_line,
                  "command line: ", key, " is varied by ", sweep.path, ": it cannot be set");
  }
  const std::vector<Choice> choices = product(sweep.axes);
  std::vector<Trial> trials;
  for (RunConfig& config : read_all(base, choices, problems)) {
    Trial trial{.id = {}, .config = std::move(config), .settings = {}};
    trial.id = trial.config.identity().substr(0, 8);
    for (const std::string& key : keys)
      if (const std::string value = trial.config.resolved.value_of(key); !value.empty())
        trial.settings.emplace_back(key, shown_value(value));
    trials.push_back(std::move(trial));
  }
  refuse_equal_trials(sweep, trials);
  refuse_useless_axes(sweep, base, choices, trials);
  if (!sweep.rungs.empty()) {
    add_rungs(sweep, base, choices, problems, trials);
    refuse_equal_trials(sweep, trials);
  }
  trials = without_excluded(sweep, std::move(trials));
  forget_constant_settings(trials);
  return trials;
}

std::string product_of(const SweepFile& sweep, const std::vector<Trial>& trials) {
  std::set<std::string> telling;
  for (const Trial& trial : trials)
    for (const auto& [key, value] : trial.settings) telling.insert(key);
  std::string text;
  for (const SweepAxis& axis : sweep.axes) {
    std::string names;
    for (const std::string& key : axis.keys())
      if (telling.contains(key)) names += (names.empty() ? "" : "+") + key;
    if (names.empty()) continue;
    if (!text.empty()) text += " x ";
    text += std::to_string(axis.alternatives.size()) + " " + names;
  }
  return text;
}

}  // namespace weft::experiments
