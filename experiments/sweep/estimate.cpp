#include "experiments/sweep/estimate.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "experiments/config/text.h"
#include "experiments/console/progress.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

/// An evaluation of a batch costs about a third of a training step on it.
constexpr double forward_share = 0.35;

/// Batches that all evaluations of a run score together, the final ones included.
double evaluated_batches(const RunConfig& config, const data::Dataset& dataset, Index steps) {
  const Index length = config.data.length;
  const double whole = double(dataset.evaluation_batches(data::Split::validation, length));
  const Index every = config.train.eval_every, some = config.train.eval_batches;
  const double on_the_way = every > 0 ? double(steps / every) : 0;
  return on_the_way * (some > 0 ? std::min(whole, double(some)) : whole) + whole +
         double(dataset.evaluation_batches(data::Split::test, length));
}

double foretell(Trainer& trainer) {
  const RunConfig& config = trainer.config();
  if (config.train.minutes > 0) return 60 * config.train.minutes;
  double step = 1e300;
  try {
    trainer.step();  // the first one also fills the memory pool
    for (int i = 0; i < 2; ++i) {
      const double start = steady_seconds();
      trainer.step();
      step = std::min(step, steady_seconds() - start);
    }
  } catch (const core::Error&) {
    return 0;  // the trial itself will say why
  }
  const Index steps = trainer.total_steps();
  const double batch = forward_share * step / double(config.train.accumulate);
  return step * double(steps) + batch * evaluated_batches(config, trainer.dataset(), steps);
}

PlannedTrial plan_one(const RunConfig& config, bool probe) {
  Trainer trainer(config);
  const bool has_test =
      trainer.dataset().evaluation_batches(data::Split::test, trainer.dataset().length()) > 0;
  PlannedTrial plan;
  plan.parameters = trainer.arena().count();
  plan.steps = trainer.total_steps();
  plan.tokens = plan.steps * trainer.tokens_per_step();
  plan.flops = double(plan.steps) * trainer.useful_flops_per_step();
  plan.length = config.data.length;
  plan.unit = trainer.dataset().unit();
  plan.leaks = config.leaks();
  plan.split = has_test ? "test" : "validation";
  plan.checkpoint = config.train.keep_best > 0 ? "best" : "last";
  if (probe) plan.seconds = foretell(trainer);
  return plan;
}

}  // namespace

std::vector<PlannedTrial> plan_trials(const std::vector<Trial>& trials,
                                      const std::vector<bool>& is_open, Index threads) {
  core::set_threads(threads);
  std::map<std::string, PlannedTrial> known, probed;  // by the config without its seed
  std::vector<PlannedTrial> plans;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    const std::string kind = trial.config.resolved.hash({"seed"});
    auto& cache = is_open[i] ? probed : known;
    if (!cache.contains(kind)) {
      cache[kind] = plan_one(trial.config, is_open[i]);
      core::trim_memory();
    }
    plans.push_back(cache[kind]);
    plans.back().id = trial.id;
    plans.back().settings = trial.settings;
  }
  return plans;
}

std::string common_budget(const std::vector<Trial>& trials) {
  std::string common;
  for (const Trial& trial : trials) {
    const TrainSettings& train = trial.config.train;
    const std::string own = train.tokens > 0    ? "tokens = " + toml_text(train.tokens)
                            : train.flops > 0   ? "flops = " + digits(train.flops)
                            : train.minutes > 0 ? "minutes = " + digits(train.minutes)
                                                : "steps = " + toml_text(train.steps);
    if (!common.empty() && common != own) return "";
    common = own;
  }
  return common;
}

}  // namespace weft::experiments
