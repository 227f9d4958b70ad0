#include "experiments/bench/lengths.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/memory.h"
#include "experiments/config/text.h"
#include "experiments/console/number_text.h"
#include "experiments/evaluate/statistics.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {
namespace {

void fit(LengthBenchmark& benchmark) {
  std::vector<std::pair<double, double>> times, bytes;
  for (std::size_t i = 0; i < benchmark.lengths.size(); ++i) {
    const double length = double(benchmark.lengths[i]);
    const StepBenchmark& step = benchmark.steps[i];
    times.emplace_back(length, step.step_s);
    bytes.emplace_back(length, double(step.peak_bytes - step.fixed_bytes));
  }
  benchmark.time_exponent = fitted_exponent(times);
  benchmark.memory_exponent = fitted_exponent(bytes);
}

}  // namespace

std::vector<Index> lengths_of(const std::string& text) {
  std::vector<Index> lengths;
  for (const std::string& part : split_at_commas(text)) {
    const std::string number = without_kilo(part);
    Index length = 0;
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), length);
    core::require(fault == std::errc() && end == number.data() + number.size() && length >= 1,
                  "--lengths ", text, ": ", part, " is no length");
    lengths.push_back(length);
  }
  core::require(!lengths.empty(), "--lengths is empty; write 512,1k,2k");
  return lengths;
}

std::vector<LengthBenchmark> benchmark_lengths(const std::string& path,
                                               const std::vector<std::string>& overrides,
                                               const std::vector<Variant>& variants,
                                               const std::vector<Index>& lengths, Index steps) {
  std::vector<std::pair<std::string, std::vector<RunConfig>>> all;  // read before any is timed
  for (const Variant& variant : variants) {
    all.push_back({name_of(variant), {}});
    for (const Index length : lengths) {
      std::vector<std::string> arguments = overrides;
      arguments.insert(arguments.end(), variant.begin(), variant.end());
      arguments.push_back("data.length=" + std::to_string(length));
      all.back().second.push_back(RunConfig::load(path, arguments));
    }
  }
  std::vector<LengthBenchmark> benchmarks;
  for (const auto& [name, configs] : all) {
    LengthBenchmark benchmark{.name = name, .lengths = lengths, .steps = {}};
    for (const RunConfig& config : configs) {
      benchmark.steps.push_back(benchmark_step(config, steps, nullptr));
      core::trim_memory();
    }
    fit(benchmark);
    benchmarks.push_back(std::move(benchmark));
  }
  return benchmarks;
}

std::string print_lengths(const std::vector<LengthBenchmark>& benchmarks) {
  std::vector<std::vector<std::string>> rows{
      {"", "length", "tokens/s", "ms/step", "peak MB", "utilisation"}};
  for (const LengthBenchmark& b : benchmarks) {
    for (std::size_t i = 0; i < b.lengths.size(); ++i)
      rows.push_back({b.name, std::to_string(b.lengths[i]), format_count(b.steps[i].tokens_per_s),
                      format_fixed(1e3 * b.steps[i].step_s, 1),
                      format_fixed(double(b.steps[i].peak_bytes) / 1e6, 1),
                      format_fixed(b.steps[i].utilisation, 3)});
    if (b.lengths.size() > 1)
      rows.push_back({b.name, "n^p", "", "p = " + format_fixed(b.time_exponent, 2),
                      "p = " + format_fixed(b.memory_exponent, 2)});
  }
  return align(rows, 60) +
         "n^p: fitted powers of the length, of the step's time and of the memory "
         "beside parameters, gradients and moments\n";
}

std::string lengths_json(const std::vector<LengthBenchmark>& benchmarks) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const LengthBenchmark& b : benchmarks) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < b.lengths.size(); ++i) {
      Json row = Json::parse(benchmark_json(b.steps[i]));
      row["length"] = b.lengths[i];
      rows.push_back(row);
    }
    Json one = {{"name", b.name}, {"steps", rows}};
    if (b.lengths.size() > 1)
      one.update({{"time_exponent", b.time_exponent}, {"memory_exponent", b.memory_exponent}});
    all.push_back(one);
  }
  return all.dump(1);
}

}  // namespace weft::experiments
