#include "experiments/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "experiments/config/node.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

std::vector<std::string> varied_keys(const SweepRecord& sweep) {
  std::vector<std::string> keys;
  for (const TrialRecord& trial : sweep.trials)
    for (const auto& [key, value] : trial.plan.settings)
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  return keys;
}

bool names_data(const std::string& key) { return key.starts_with("data."); }

bool is_tuned(const SweepRecord& sweep, const std::string& key) {
  return std::ranges::find(sweep.plan.tuned, key) != sweep.plan.tuned.end();
}

/// The settings that name a row.
std::vector<std::string> row_keys(const SweepRecord& sweep, const std::string& by) {
  const std::vector<std::string> keys = varied_keys(sweep);
  const auto has = [&](const std::string& key) {
    return std::ranges::find(keys, key) != keys.end();
  };
  if (!by.empty()) {
    if (has(by)) return {by};
    for (const std::string& key : keys)
      if (name_of(key) == by) return {key};
    std::string known;
    for (const std::string& key : keys) known += (known.empty() ? "" : ", ") + key;
    throw core::Error("--by " + by + ": the sweep varies " + known);
  }
  if (has("model.attention")) return {"model.attention"};
  std::vector<std::string> rest;
  for (const std::string& key : keys)
    if (key != "seed" && !names_data(key) && !is_tuned(sweep, key)) rest.push_back(key);
  return rest;
}

std::string short_value(const std::string& key, const std::string& value) {
  return key.ends_with("path") ? std::filesystem::path(value).filename().string() : value;
}

/// "recall, length 128": the kind of data needs no name.
std::string text_of(const TrialSettings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    const std::string name(name_of(key));
    const bool plain = name == "kind" || name == "path";
    text += (text.empty() ? "" : ", ") + (plain ? "" : name + " ") + short_value(key, value);
  }
  return text;
}

/// The kind of the data first, whatever the order in the file.
TrialSettings task_of(const PlannedTrial& trial) {
  TrialSettings own;
  for (const auto& setting : trial.settings)
    if (names_data(setting.first)) own.push_back(setting);
  std::ranges::stable_sort(own, {},
                           [](const auto& setting) { return setting.first != "data.kind"; });
  return own;
}

TrialSettings without_length(TrialSettings task) {
  std::erase_if(task, [](const auto& setting) { return setting.first == "data.length"; });
  return task;
}

/// Trials that differ in nothing but their seed.
struct Cell {
  TrialSettings chosen;
  std::vector<const TrialRecord*> trials;

  std::vector<double> values(auto of) const {
    std::vector<double> all;
    for (const TrialRecord* trial : trials)
      if (trial->done()) all.push_back(of(*trial));
    return all;
  }
  Index done() const {
    return std::ranges::count_if(trials, [](const TrialRecord* t) { return t->done(); });
  }
  double validation() const {
    return Statistic::of(values([](const TrialRecord& t) { return t.best_validation; })).mean;
  }
};

/// Rungs of one candidate of an arm.
struct CandidateRungs {
  Index number = -1;
  TrialSettings chosen;
  std::vector<const TrialRecord*> rungs;
};

struct Group {
  std::string name;
  TrialSettings settings;
  std::vector<CandidateRungs> candidates;
  std::vector<Cell> cells;
};

/// The place of `key` in a list of named things, made when it is new.
template <class Item, class Key>
Item& place_of(std::vector<Item>& items, Key Item::*name, const Key& key) {
  const auto found = std::ranges::find(items, key, name);
  if (found != items.end()) return *found;
  items.emplace_back().*name = key;
  return items.back();
}

/// Among the cells with most trials done, the one with the least validation loss.
const Cell& choose(const Group& group) {
  const Cell* best = &group.cells.front();
  for (const Cell& cell : group.cells) {
    const Index more = cell.done() - best->done();
    if (more > 0 || (more == 0 && cell.validation() < best->validation())) best = &cell;
  }
  return *best;
}

void note_missing(const Cell& cell, ComparedRow& row) {
  Index failed = 0, diverged = 0, open = 0, pruned = 0;
  std::string reason, steps;
  for (const TrialRecord* trial : cell.trials) {
    if (trial->done()) continue;
    if (trial->turn == Turn::pruned) {
      ++pruned;
      continue;
    }
    if (trial->state.diverged) {
      ++diverged;
      steps += (steps.empty() ? "" : ", ") + std::to_string(trial->state.step);
      continue;
    }
    const bool has_failed = trial->state.phase == TrialState::Phase::failed;
    failed += has_failed;
    open += !has_failed;
    if (has_failed && reason.empty()) reason = trial->state.reason;
  }
  if (diverged > 0)
    row.notes.push_back(std::to_string(diverged) + " diverged at step " + steps + ", left out");
  if (failed > 0) row.notes.push_back(std::to_string(failed) + " failed, left out: " + reason);
  if (open > 0) row.notes.push_back(std::to_string(open) + " not finished, left out");
  if (pruned > 0)
    row.notes.push_back("pruned: too far behind, " + std::to_string(pruned) + " not run");
  row.pruned = pruned > 0;
}

/// Settings were chosen without these trials: with them, others might have been.
void note_missing_choices(const Group& group, const Cell& chosen, ComparedRow& row) {
  std::string names;
  for (const Cell& cell : group.cells)
    for (const TrialRecord* trial : cell.trials)
      if (&cell != &chosen && !trial->done())
        names += (names.empty() ? "" : ", ") + trial->plan.id + " (" + text_of(cell.chosen) + ")";
  if (!names.empty()) row.notes.push_back("chosen without trial " + names);
}

/// The settings that differ between the cells of a row.
std::vector<TriedSetting> tried_of(const Group& group, const Cell& chosen) {
  std::vector<TriedSetting> tried;
  const auto add = [&](const TrialSettings& settings) {
    for (const auto& [key, value] : settings) {
      auto& values = place_of(tried, &TriedSetting::key, key).values;
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
  };
  for (const Cell& cell : group.cells) add(cell.chosen);
  for (const CandidateRungs& candidate : group.candidates) add(candidate.chosen);
  std::erase_if(tried, [](const TriedSetting& setting) { return setting.values.size() < 2; });
  for (TriedSetting& setting : tried)
    for (const auto& [key, value] : chosen.chosen)
      if (key == setting.key) setting.chosen = value;
  return tried;
}

std::vector<TunedCandidate> candidates_of(const Group& group, const Cell& chosen) {
  const bool is_tuned =
      chosen.trials.empty() || std::ranges::any_of(chosen.trials, [](const TrialRecord* trial) {
        return trial->turn != Turn::later;
      });
  std::size_t open_rung = 0;
  for (const CandidateRungs& all : group.candidates)
    open_rung = std::max(open_rung, all.rungs.size());
  std::vector<TunedCandidate> candidates;
  for (const CandidateRungs& all : group.candidates) {
    TunedCandidate candidate{.settings = text_of(all.chosen), .losses = {}};
    for (const TrialRecord* rung : all.rungs) {
      candidate.diverged = candidate.diverged || rung->state.diverged;
      candidate.losses.push_back(rung->done() ? rung->last_validation : not_measured);
    }
    candidate.chosen = is_tuned && all.chosen == chosen.chosen;
    candidate.undecided = !is_tuned && !candidate.diverged && all.rungs.size() == open_rung;
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

ComparedRow row_of(const Group& group) {
  const Cell& cell = choose(group);
  ComparedRow row;
  row.name = group.name;
  row.settings = group.settings;
  row.tried = tried_of(group, cell);
  row.candidates = candidates_of(group, cell);
  for (const Cell& each : group.cells)
    for (const TrialRecord* trial : each.trials)
      row.moving = row.moving || (!trial->done() && trial->turn != Turn::pruned &&
                                  trial->state.phase != TrialState::Phase::failed);
  const bool had_a_choice = group.cells.size() > 1 || !group.candidates.empty();
  if (had_a_choice && cell.done() > 0) row.chosen = text_of(cell.chosen);
  row.planned = Index(cell.trials.size());
  if (cell.trials.empty()) row.notes.push_back("no candidate came through [tune]");
  note_missing(cell, row);
  note_missing_choices(group, cell, row);
  for (const TrialRecord* trial : cell.trials) {
    row.leaks = row.leaks || trial->plan.leaks;
    row.parameters = trial->plan.parameters;
    row.flops = trial->plan.flops;
    if (trial->done()) row.done.push_back(trial);
  }
  if (!row.done.empty())
    for (const auto& [metric, value] : row.done.front()->scores)
      row.scores[metric] = Statistic::of(cell.values([&, &name = metric](const TrialRecord& t) {
        const auto score = t.scores.find(name);
        return score == t.scores.end() ? not_measured : score->second;
      }));
  row.leak_bits = Statistic::of(cell.values([](const auto& t) { return t.leak_bits; }));
  row.tokens_per_s = Statistic::of(cell.values([](const auto& t) { return t.tokens_per_s; }));
  row.train_seconds = Statistic::of(cell.values([](const auto& t) { return t.train_seconds; }));
  row.peak_bytes = Statistic::of(cell.values([](const auto& t) { return t.peak_bytes; }));
  return row;
}

/// What the scores of the task are to be compared with.
void note_references(const TrialRecord& trial, ComparedTask& task) {
  task.floor_bits = trial.floor_bits;
  task.chance = trial.chance;
  task.classifies = trial.classifies;
  task.baselines = trial.baselines;
  task.bits_baselines = trial.bits_baselines;
}

void choose_metrics(const ComparisonOptions& options, ComparedTask& task) {
  const auto has = [&](const std::string& metric) {
    return std::ranges::any_of(task.rows,
                               [&](const ComparedRow& row) { return row.scores.contains(metric); });
  };
  if (!options.metric.empty()) {
    std::string known;
    for (const ComparedRow& row : task.rows)
      if (known.empty())
        for (const auto& [metric, score] : row.scores) known += " " + metric;
    core::require(known.empty() || has(options.metric), "--metric ", options.metric,
                  " is none of those of ", task.name, ":", known);
    task.metrics = {options.metric};
    return;
  }
  task.metrics = {"bits"};
  if (task.classifies)
    task.metrics = {"accuracy", "loss"};
  else if (!task.baselines.empty())
    task.metrics.push_back("accuracy");
  if (has("recall")) task.metrics.push_back("recall");
  if (has("sequence_accuracy")) {
    task.metrics.push_back("accuracy");
    task.metrics.push_back("sequence_accuracy");
  }
  if (has("steps")) task.metrics.push_back("steps");
}

void rank(ComparedTask& task) {
  const std::string& metric = task.metrics.front();
  const double sign = lower_is_better(metric) ? 1 : -1;
  std::ranges::stable_sort(task.rows, {}, [&](const ComparedRow& row) {
    const auto score = row.scores.find(metric);
    const bool absent = score == row.scores.end() || std::isnan(score->second.mean);
    return std::tuple(absent, absent ? 0.0 : sign * score->second.mean, row.name);
  });
}

}  // namespace

std::string ComparedRow::marked_name() const {
  std::string text = name;
  if (leaks && std::isfinite(leak_bits.mean))
    text += " (leaks, " + format_signed(leak_bits.mean, 3) + " bits)";
  else if (leaks)
    text += " (leaks)";
  return text + (moving ? " *" : "");
}

Comparison compare(const SweepRecord& sweep, const ComparisonOptions& options) {
  const std::vector<std::string> keys = row_keys(sweep, options.by);
  Comparison result{.by = {}, .baseline = options.baseline, .tasks = {}};
  for (const std::string& key : keys) result.by += (result.by.empty() ? "" : ", ") + key;
  std::vector<std::vector<Group>> groups;
  const auto group_of = [&](const TrialRecord& trial, TrialSettings& chosen) -> Group& {
    const TrialSettings data = task_of(trial.plan);
    ComparedTask& task =
        place_of(result.tasks, &ComparedTask::name, data.empty() ? sweep.plan.name : text_of(data));
    task.family = data.empty() ? task.name : text_of(without_length(data));
    task.unit = trial.plan.unit;
    task.split = trial.plan.split;
    task.length = trial.plan.length;
    task.eval_tokens = trial.plan.eval_tokens;
    if (trial.done() && !trial.plan.stage.is_rung()) note_references(trial, task);
    groups.resize(result.tasks.size());
    TrialSettings name;
    for (const auto& setting : trial.plan.settings) {
      if (setting.first == "seed" || names_data(setting.first)) continue;
      const bool names = std::ranges::find(keys, setting.first) != keys.end();
      (names ? name : chosen).push_back(setting);
    }
    const std::string shown = name.size() == 1 ? name[0].second : text_of(name);
    auto& of_task = groups[std::size_t(&task - result.tasks.data())];
    Group& group = place_of(of_task, &Group::name, shown);
    group.settings = name;
    return group;
  };
  for (const TrialRecord& trial : sweep.trials) {
    TrialSettings chosen;
    Group& group = group_of(trial, chosen);
    place_of(group.cells, &Cell::chosen, chosen).trials.push_back(&trial);
  }
  for (const TrialRecord& trial : sweep.rungs) {
    TrialSettings chosen;
    Group& group = group_of(trial, chosen);
    CandidateRungs& candidate =
        place_of(group.candidates, &CandidateRungs::number, trial.plan.stage.candidate);
    candidate.chosen = chosen;
    candidate.rungs.push_back(&trial);
  }
  for (std::size_t i = 0; i < result.tasks.size(); ++i) {
    ComparedTask& task = result.tasks[i];
    for (Group& group : groups[i]) {
      if (group.cells.empty()) group.cells.emplace_back();  // every candidate diverged
      task.rows.push_back(row_of(group));
    }
    choose_metrics(options, task);
    rank(task);
    if (!options.baseline.empty())
      core::require(
          std::ranges::find(task.rows, options.baseline, &ComparedRow::name) != task.rows.end(),
          "--baseline ", options.baseline, ": no row of ", task.name, " has that name");
  }
  return result;
}

}  // namespace weft::experiments
