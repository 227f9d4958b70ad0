#include <iostream>

#include "core/error.h"
#include "experiments/bench/decoding.h"
#include "experiments/bench/lengths.h"
#include "experiments/bench/step.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"

namespace weft::experiments {
namespace {

/// The words behind CONFIG.
Arguments overrides_of(const CommandLine& line) {
  return {line.words().begin() + 2, line.words().end()};
}

Index steps_of(const CommandLine& line) {
  const Index steps = line.integer("steps");
  core::require(steps >= 1, "--steps 0: nothing to time");
  return steps;
}

int bench_step(const CommandLine& line) {
  const RunConfig config = RunConfig::load(line.words()[1], overrides_of(line));
  const Index steps = steps_of(line);
  autograd::Profile profile;
  const bool profiled = line.has("profile");
  const StepBenchmark result = benchmark_step(config, steps, profiled ? &profile : nullptr);
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  if (profiled) std::cout << print_profile(profile, steps);
  return 0;
}

int bench_scale(const CommandLine& line) {
  const auto benchmarks =
      benchmark_lengths(line.words()[1], overrides_of(line), variants_of(line.texts("vary")),
                        lengths_of(line.text("lengths")), steps_of(line));
  std::cout << (line.has("json") ? lengths_json(benchmarks) + "\n" : print_lengths(benchmarks));
  return 0;
}

int bench_decode(const CommandLine& line) {
  const RunConfig config = RunConfig::load(line.words()[1], overrides_of(line));
  const DecodeBenchmark result = benchmark_decode(
      config, {.prompt = line.integer("prompt"), .tokens = line.integer("tokens")});
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  return 0;
}

}  // namespace

int bench_command(const Arguments& arguments) {
  CommandLine line(
      "weft bench step|scale|decode CONFIG [section.key=value ...]",
      "step trains a few steps and prints speed, utilisation and memory; scale does so at several "
      "lengths and fits how time and memory grow; decode writes tokens one by one with random "
      "weights and prints speed and weights read, beside the dense model of the same shape. "
      "Compare "
      "figures of one machine and minute only.");
  line.words(2, 1000, "step|scale|decode CONFIG")
      .option("steps", "N", "step, scale: steps to time after one to warm up", "5")
      .option("lengths", "N,M", "scale: the lengths to try, such as 512,1k,2k", "512,1k,2k")
      .list("vary", "KEY=A,B", "scale: try each of these values; may be given several times")
      .option("prompt", "N", "decode: tokens read before", "64")
      .option("tokens", "N", "decode: tokens to time", "64")
      .flag("json", "print JSON")
      .flag("profile", "step: print time, Gflop/s and bytes by layer and op");
  if (!line.parse(arguments)) return 0;
  const std::string& what = line.words()[0];
  if (what == "step") return bench_step(line);
  if (what == "scale") return bench_scale(line);
  if (what == "decode") return bench_decode(line);
  throw core::Error("weft bench knows step, scale and decode, not " + what);
}

}  // namespace weft::experiments
