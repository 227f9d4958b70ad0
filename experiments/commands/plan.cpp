#include <cmath>
#include <iostream>

#include "core/available_memory.h"
#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/config/variations.h"
#include "experiments/console/columns.h"
#include "experiments/console/command_line.h"
#include "experiments/console/number_text.h"
#include "experiments/forecast/memory_budget.h"
#include "experiments/forecast/ranks_forecast.h"
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

/// Seconds of all training steps; 0 when none was measured.
double training_seconds(const RunConfig& config, const RunForecast& forecast) {
  const TrainSettings& train = config.train;
  if (!forecast.measured) return 0;
  if (train.minutes > 0) return 60 * train.minutes;
  if (train.steps > 0) return forecast.step_s * double(train.steps);
  const double tokens =
      train.tokens > 0 ? double(train.tokens) : train.flops / forecast.flops_per_token;
  return tokens / forecast.tokens_per_s(config);
}

const std::vector<std::string> columns = {"",           "parameters", "flop/token",
                                          "keys/token", "peak MiB",   "ms/step",
                                          "tokens/s",   "training",   "fits?"};

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
          forecast.measured ? format_duration(training_seconds(config, forecast)) : unknown,
          verdict(config, forecast, within_budget)};
}

/// Prints rows one by one, as soon as they are known, in columns as wide as the longest name and
/// the usual numbers.
class GrowingTable {
 public:
  explicit GrowingTable(const std::vector<Variant>& variants) : widest_(columns) {
    for (const Variant& variant : variants)
      if (name_of(variant).size() > widest_[0].size()) widest_[0] = name_of(variant);
    print(columns);
  }
  void print(const std::vector<std::string>& row) const {
    const std::string lines = format_columns({widest_, row}, 60);
    std::cout << lines.substr(lines.find('\n') + 1) << std::flush;
  }

 private:
  std::vector<std::string> widest_;
};

std::vector<Index> ranks_of(const CommandLine& line) {
  std::vector<Index> all;
  if (!line.has("ranks")) return all;
  for (const double number : line.numbers("ranks")) {
    if (!(number >= 1 && number <= 1e6 && number == std::floor(number)))
      throw core::Error(core::Fault::usage,
                        "--ranks: " + format_exact(number) + " is no number of processes");
    all.push_back(Index(number));
  }
  return all;
}

/// The same shared by several machines.
std::vector<std::string> row_of_ranks(const Variant& variant, Index ranks,
                                      const RanksForecast& forecast) {
  const bool timed = forecast.arithmetic_s > 0;
  const auto ms = [](double seconds) { return format_exact(double(Index(seconds * 1e4)) / 10); };
  return {name_of(variant) + (name_of(variant).empty() ? "" : " ") +
              format_number_of(double(ranks), "rank"),
          std::to_string(forecast.shards),
          format_count(double(forecast.tokens)),
          format_mib(double(forecast.peak_bytes)),
          format_fixed(double(forecast.traffic.bytes) / 1e6, 3),
          std::to_string(forecast.traffic.messages),
          ms(forecast.exchange_s),
          timed ? ms(forecast.arithmetic_s) : "-",
          timed ? format_fixed(100 * forecast.least_efficiency(), 0) + " to " +
                      format_fixed(100 * forecast.best_efficiency(), 0) + " %"
                : "-"};
}

}  // namespace

int plan_command(const Arguments& arguments) {
  CommandLine line("weft plan CONFIG [section.key=value ...]",
                   "Estimates what a run will take before it starts: parameters, arithmetic and "
                   "keys read per token, memory and time of a step (measured by training two "
                   "steps), and whether it fits. Exits with 1 when something does not fit.");
  line.words(1, 1000, "CONFIG")
      .list("vary", "KEY=A,B", "plan each of these values; may be given several times")
      .option("ranks", "R,R", "also plan a run shared by R machines, for each R")
      .option("network", "RATE", "bandwidth of the network, such as 1Gbit or 25Gbit", "1Gbit");
  if (!line.parse(arguments)) return 0;
  const Index available = core::available_memory();
  const std::vector<Index> all_ranks = ranks_of(line);
  const double rate = network_rate(line.text("network"));
  const std::vector<Variant> variants = variants_of(line.texts("vary"));
  std::vector<RunConfig> configs;
  for (const Variant& variant : variants) {
    std::vector<std::string> overrides = line.overrides();
    overrides.insert(overrides.end(), variant.begin(), variant.end());
    configs.push_back(RunConfig::load(line.words()[0], overrides));
  }
  bool all_fit = true;
  double seconds = 0;
  std::string notes;
  std::vector<std::vector<std::string>> shared{{"", "shards each", "tokens each", "peak MiB each",
                                                "MB sent", "messages", "ms to send",
                                                "ms to compute", "computing"}};
  const GrowingTable table(variants);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string name = name_of(variants[i]);
    const auto note = [&](const std::string& text) {
      if (!text.empty()) notes += (name.empty() ? "" : name + ": ") + text + "\n";
    };
    RunConfig& config = configs[i];
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
    seconds += training_seconds(config, forecast);
    table.print(row_of(variants[i], config, forecast, within_budget));
    for (const Index ranks : all_ranks)
      shared.push_back(
          row_of_ranks(variants[i], ranks, forecast_ranks(config, forecast, ranks, rate)));
    note(describe_precision(config));
    if (within_budget) note(describe_memory(config));
  }
  if (variants.size() > 1)
    std::cout << "one after the other: " << format_duration(seconds)
              << " of training, without validations\n";
  std::cout << format_mib(double(available))
            << " MiB are free; ~ is predicted from smaller batches, > is less than it would take\n"
            << notes;
  if (shared.size() > 1)
    std::cout << '\n'
              << format_columns(shared, 60) << "a step of the rank that has most, at "
              << line.text("network")
              << " and without latency; computing: the share of its time, if it sends afterwards "
                 "and if it sends meanwhile\n";
  return all_fit ? 0 : 1;
}

}  // namespace weft::experiments
