#include "experiments/sweep/estimate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "experiments/config/text.h"
#include "experiments/console/number_text.h"
#include "experiments/console/progress.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/forecast/memory_budget.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

/// What trials that differ in seed, optimizer settings and budget share.
struct TrialKind {
  PlannedTrial plan;  ///< what a trial of it is, but for its budget
  Index tokens_per_step = 0;
  double flops_per_step = 0;
  Index timed_steps = 0;           ///< of a budget of time
  double step_s = 0, batch_s = 0;  ///< a step of training, a batch of scoring; 0: not measured
  Index validation_batches = 0, test_batches = 0, scored_batches = 0;
};

double best_of_two(const std::function<void()>& action) {
  double best = 1e300;
  action();  // fills the memory pool
  for (int i = 0; i < 2; ++i) {
    const double start = steady_seconds();
    action();
    best = std::min(best, steady_seconds() - start);
  }
  return best;
}

void measure(Trainer& trainer, TrialKind& kind) {
  try {
    const Trainer::Step first = trainer.step();
    kind.plan.first_loss = first.loss;
    kind.plan.first_gradient = first.report.gradient_norm;
    kind.step_s = best_of_two([&] { trainer.step(); });
    kind.batch_s =
        best_of_two([&] { evaluate(trainer.model(), trainer.dataset(), {.batches = 1}); });
  } catch (const core::Error&) {
    kind.step_s = kind.batch_s = 0;  // the trial itself will say why
  }
}

/// As the trial itself will be trained; where train.memory is too little, it will say so.
RunConfig within_memory(RunConfig config) {
  try {
    fit_memory(config);
  } catch (const core::Error&) {
    config.train.recomputed = config.model.layers;
  }
  return config;
}

TrialKind kind_of(const RunConfig& config, bool probe, Index eval_tokens) {
  Trainer trainer(within_memory(config));
  TrialKind kind;
  const data::Dataset& dataset = trainer.dataset();
  kind.validation_batches = dataset.evaluation_batches(data::Split::validation, dataset.length());
  kind.test_batches = dataset.evaluation_batches(data::Split::test, dataset.length());
  const auto scored = kind.test_batches > 0 ? data::Split::test : data::Split::validation;
  kind.scored_batches = batches_of(dataset, {.split = scored, .tokens = eval_tokens});
  kind.plan.eval_tokens = eval_tokens;
  kind.tokens_per_step = trainer.tokens_per_step();
  kind.flops_per_step = trainer.useful_flops_per_step();
  if (config.train.minutes > 0) kind.timed_steps = trainer.total_steps();
  PlannedTrial& plan = kind.plan;
  plan.parameters = trainer.arena().count();
  plan.length = config.data.length;
  plan.unit = trainer.dataset().unit();
  plan.leaks = config.leaks();
  plan.split = kind.test_batches > 0 ? "test" : "validation";
  plan.checkpoint = config.train.keep_best > 0 ? "best" : "last";
  if (probe) measure(trainer, kind);
  return kind;
}

/// Batches that all validations of a run score together.
double validated_batches(const RunConfig& config, const TrialKind& kind, Index steps) {
  const double whole = double(kind.validation_batches);
  const Index every = config.train.eval_every, some = config.train.eval_batches;
  const double once = some > 0 ? std::min(whole, double(some)) : whole;
  return (every > 0 ? double(steps / every) : 0) * once + whole;
}

/// The steps that Trainer::total_steps makes of a budget.
Index steps_of(const TrainSettings& train, const TrialKind& kind) {
  if (train.steps > 0) return train.steps;
  const double steps = train.tokens > 0 ? double(train.tokens) / double(kind.tokens_per_step)
                                        : train.flops / kind.flops_per_step;
  return train.minutes > 0 ? kind.timed_steps : std::max<Index>(1, Index(std::ceil(steps)));
}

PlannedTrial plan_of(const Trial& trial, const TrialKind& kind) {
  const TrainSettings& train = trial.config.train;
  PlannedTrial plan = kind.plan;
  plan.id = trial.id;
  plan.settings = trial.settings;
  plan.stage = trial.stage;
  plan.steps = steps_of(train, kind);
  plan.tokens = plan.steps * kind.tokens_per_step;
  plan.flops = double(plan.steps) * kind.flops_per_step;
  if (kind.step_s == 0) return plan;
  plan.seconds = train.minutes > 0 ? 60 * train.minutes : kind.step_s * double(plan.steps);
  plan.seconds += kind.batch_s * validated_batches(trial.config, kind, plan.steps);
  if (plan.stage.is_rung()) return plan;
  plan.scoring_seconds = kind.batch_s * double(kind.scored_batches);
  plan.seconds += plan.scoring_seconds;
  return plan;
}

/// The config without what does not change how long a step takes.
std::string name_of_kind(const RunConfig& config) {
  std::vector<std::string> without = {"seed", "train.steps", "train.tokens", "train.flops"};
  for (const auto& [key, value] : config.resolved.values())
    if (key.starts_with("optim.") && key != "optim.kind") without.push_back(key);
  return config.resolved.hash(without);
}

}  // namespace

std::vector<PlannedTrial> plan_trials(const std::vector<Trial>& trials,
                                      const std::vector<bool>& is_open, Index threads,
                                      Index eval_tokens,
                                      const std::function<void(Index)>& measuring) {
  core::set_threads(threads);
  std::map<std::string, bool> probed;
  std::map<std::string, TrialKind> known;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    names.push_back(name_of_kind(trials[i].config));
    probed[names[i]] = probed[names[i]] || is_open[i];
  }
  const auto kinds = std::ranges::count_if(probed, [](const auto& kind) { return kind.second; });
  if (measuring && kinds > 0) measuring(Index(kinds));
  std::vector<PlannedTrial> plans;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!known.contains(names[i])) {
      known[names[i]] = kind_of(trials[i].config, probed[names[i]], eval_tokens);
      core::trim_memory();
    }
    plans.push_back(plan_of(trials[i], known[names[i]]));
    known[names[i]].plan.first_loss = known[names[i]].plan.first_gradient = 0;
  }
  return plans;
}

Budget common_budget(const std::vector<Trial>& trials) {
  Budget common;
  for (const Trial& trial : trials) {
    if (trial.stage.is_rung()) continue;
    const TrainSettings& train = trial.config.train;
    Budget own = train.tokens > 0    ? Budget{"tokens", toml_text(train.tokens)}
                 : train.flops > 0   ? Budget{"flops", format_exact(train.flops)}
                 : train.minutes > 0 ? Budget{"minutes", format_exact(train.minutes)}
                                     : Budget{"steps", toml_text(train.steps)};
    if (!common.key.empty() && common != own) return {};
    common = std::move(own);
  }
  return common;
}

}  // namespace weft::experiments
