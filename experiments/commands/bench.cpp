#include <iostream>

#include "core/error.h"
#include "experiments/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/decode_benchmark.h"
#include "experiments/step_benchmark.h"

namespace weft::experiments {

namespace {

int bench_step(const CommandLine& line, const RunConfig& config) {
  const Index steps = line.integer("steps");
  core::require(steps >= 1, "--steps 0: nothing to time");
  autograd::Profile profile;
  const bool profiled = line.has("profile");
  const StepBenchmark result = benchmark_step(config, steps, profiled ? &profile : nullptr);
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  if (profiled) std::cout << print_profile(profile, steps);
  return 0;
}

int bench_decode(const CommandLine& line, const RunConfig& config) {
  const DecodeBenchmark result = benchmark_decode(
      config, {.prompt = line.integer("prompt"), .tokens = line.integer("tokens")});
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  return 0;
}

}  // namespace

int bench_command(const Arguments& arguments) {
  CommandLine line(
      "weft bench step | decode CONFIG [section.key=value ...]",
      "step trains a few steps and prints speed, utilisation and memory; decode writes tokens one "
      "by one with random weights and prints speed and weights read, beside the dense model of the "
      "same shape. Compare figures of one machine and minute only.");
  line.words(2, 1000, "step | decode CONFIG")
      .option("steps", "N", "step: steps to time after one to warm up", "5")
      .option("prompt", "N", "decode: tokens read before", "64")
      .option("tokens", "N", "decode: tokens to time", "64")
      .flag("json", "print one JSON object")
      .flag("profile", "step: print time, Gflop/s and bytes by layer and op");
  if (!line.parse(arguments)) return 0;
  const std::string& what = line.words()[0];
  core::require(what == "step" || what == "decode", "weft bench knows step and decode, not ", what);
  const RunConfig config =
      RunConfig::load(line.words()[1], {line.words().begin() + 2, line.words().end()});
  return what == "step" ? bench_step(line, config) : bench_decode(line, config);
}

}  // namespace weft::experiments
