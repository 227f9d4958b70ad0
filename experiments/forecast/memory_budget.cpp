#include "experiments/forecast/memory_budget.h"

#include <algorithm>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/console/number_text.h"
#include "experiments/forecast/run_forecast.h"

namespace weft::experiments {
namespace {

Index bytes_with(RunConfig config, Index recomputed) {
  config.train.recomputed = recomputed;
  return step_bytes(config);
}

/// Whether a step without recomputation fits, without ever taking much more than the budget.
bool fits_as_it_is(RunConfig config, Index budget) {
  config.train.recomputed = 0;
  return forecast_run(config, budget, false).fits && bytes_with(config, 0) <= budget;
}

}  // namespace

void fit_memory(RunConfig& config) {
  const Index budget = config.train.memory_bytes(), layers = config.model.layers;
  config.train.recomputed = 0;
  if (budget == 0 || rough_bytes(config) < 0.5 * double(budget)) return;
  core::set_threads(config.threads);
  if (fits_as_it_is(config, budget)) return;
  const Index least = bytes_with(config, layers);
  if (least > budget)
    throw core::Error("a training step takes " + format_mib(double(least)) +
                      " MiB with every layer recomputed, but train.memory = \"" +
                      config.train.memory + "\" allows " + format_mib(double(budget)) +
                      " MiB; lower train.batch or data.length, or allow more");
  Index count = layers;
  // Star and Universal Transformers recompute all or nothing.
  if (!config.model.is_star() && !config.model.universal.chosen() && layers > 1) {
    const Index slope = std::max<Index>(1, bytes_with(config, layers - 1) - least);
    count = std::clamp<Index>(layers - (budget - least) / slope, 1, layers);
    while (count < layers && bytes_with(config, count) > budget) ++count;
    while (count > 1 && bytes_with(config, count - 1) <= budget) --count;
  }
  config.train.recomputed = count;
}

std::string describe_memory(const RunConfig& config) {
  if (config.train.memory.empty()) return {};
  const Index count = config.train.recomputed;
  return "train.memory = \"" + config.train.memory + "\": " +
         (count == 0
              ? std::string("no layer needs to be computed again")
              : std::to_string(count) + " of " + std::to_string(config.model.layers) +
                    " layers are computed again in the backward pass, about " +
                    format_fixed(100 * double(count) / (3 * double(config.model.layers)), 0) +
                    " % more arithmetic in layers");
}

}  // namespace weft::experiments
