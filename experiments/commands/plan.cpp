#include <iostream>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/config/variations.h"
#include "experiments/console/columns.h"
#include "experiments/console/command_line.h"
#include "experiments/console/number_text.h"
#include "experiments/forecast/memory_budget.h"
#include "experiments/forecast/run_forecast.h"
#include "experiments/run/precision_text.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

std::string verdict(const RunConfig& config, const RunForecast& forecast, bool within_budget) {
  if (!within_budget) return "NO, not within train.memory";
  if (forecast.fits)
    return forecast.largest_batch > config.train.batch
               ? "yes, batch <= " + std::to_string(forecast.largest_batch)
               : "yes";
  if (forecast.largest_batch > 0)
    return "NO, batch <= " + std::to_string(forecast.largest_batch) + " would";
  return "NO, not even one sequence; try train.recompute=true";
}

std::vector<std::string> row_of(const Variant& variant, const RunConfig& config,
                                const RunForecast& forecast, bool within_budget) {
  const std::string unknown = "-";
  const bool known = forecast.parameters > 0;
  std::string peak = forecast.measured ? "" : known ? "~" : ">";
  peak += format_mib(double(forecast.peak_bytes));
  return {name_of(variant),
          known ? format_count(double(forecast.parameters)) : unknown,
          known ? format_count(forecast.flops_per_token) : unknown,
          known ? format_count(forecast.keys_per_token) : unknown,
          peak,
          forecast.measured ? format_exact(double(Index(forecast.step_s * 1e4)) / 10) : unknown,
          forecast.measured ? format_count(forecast.tokens_per_s(config)) : unknown,
          verdict(config, forecast, within_budget)};
}

}  // namespace

int plan_command(const Arguments& arguments) {
  CommandLine line("weft plan CONFIG [section.key=value ...]",
                   "Estimates what a run will take before it starts: parameters, arithmetic and "
                   "keys read per token, memory and time of a step (measured by training two "
                   "steps), and whether it fits. Exits with 1 when something does not fit.");
  line.words(1, 1000, "CONFIG")
      .list("vary", "KEY=A,B", "plan each of these values; may be given several times");
  if (!line.parse(arguments)) return 0;
  const Index available = available_bytes();
  bool all_fit = true;
  std::string notes;
  std::vector<std::vector<std::string>> rows{
      {"", "parameters", "flop/token", "keys/token", "peak MiB", "ms/step", "tokens/s", "fits?"}};
  for (const Variant& variant : variants_of(line.texts("vary"))) {
    std::vector<std::string> overrides = line.overrides();
    overrides.insert(overrides.end(), variant.begin(), variant.end());
    RunConfig config = RunConfig::load(line.words()[0], overrides);
    const std::string name = name_of(variant);
    const auto note = [&](const std::string& text) {
      if (!text.empty()) notes += (name.empty() ? "" : name + ": ") + text + "\n";
    };
    bool within_budget = true;
    try {
      fit_memory(config);
    } catch (const core::Error& error) {
      note(error.what());
      config.train.recomputed = config.model.layers;
      within_budget = false;
    }
    const RunForecast forecast = forecast_run(config, available);
    all_fit = all_fit && forecast.fits && within_budget;
    rows.push_back(row_of(variant, config, forecast, within_budget));
    note(describe_precision(config));
    if (within_budget) note(describe_memory(config));
  }
  std::cout << format_columns(rows, 60) << format_mib(double(available))
            << " MiB are free; ~ is predicted from smaller batches, > is less than it would take\n"
            << notes;
  return all_fit ? 0 : 1;
}

}  // namespace weft::experiments
