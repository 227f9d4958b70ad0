#include <iostream>

#include "core/error.h"
#include "experiments/bench/decoding.h"
#include "experiments/bench/lengths.h"
#include "experiments/bench/step.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/forecast/memory_budget.h"

namespace weft::experiments {
namespace {

void add_steps_option(CommandLine& line) {
  line.option("steps", "N", "steps to time, after one warm-up step", "5");
}

Index steps_of(const CommandLine& line) {
  const Index steps = line.integer("steps");
  core::require(steps >= 1, "--steps 0: nothing to time");
  return steps;
}

int bench_step(const Arguments& arguments) {
  CommandLine line("weft bench step CONFIG [section.key=value ...]",
                   "Trains a few steps and prints speed, utilisation and memory. Compare only "
                   "figures of the same machine and time.");
  line.words(1, 1000, "CONFIG");
  add_steps_option(line);
  line.flag("json", "print JSON").flag("profile", "print time, Gflop/s and bytes by layer and op");
  if (!line.parse(arguments)) return 0;
  RunConfig config = RunConfig::load(line.words()[0], line.overrides());
  fit_memory(config);
  const Index steps = steps_of(line);
  autograd::Profile profile;
  const bool profiled = line.has("profile");
  const StepBenchmark result = benchmark_step(config, steps, profiled ? &profile : nullptr);
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  if (profiled) std::cout << print_profile(profile, steps);
  return 0;
}

int bench_scale(const Arguments& arguments) {
  CommandLine line("weft bench scale CONFIG [section.key=value ...]",
                   "Trains a few steps at several lengths and fits how time and memory "
                   "grow with the length. Compare only figures of the same machine and time.");
  line.words(1, 1000, "CONFIG")
      .option("lengths", "N,M", "the lengths to try", "512,1k,2k")
      .list("vary", "KEY=A,B", "try each of these values; may be given several times");
  add_steps_option(line);
  line.flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const auto benchmarks =
      benchmark_lengths(line.words()[0], line.overrides(), variants_of(line.texts("vary")),
                        lengths_of(line.text("lengths")), steps_of(line));
  std::cout << (line.has("json") ? lengths_json(benchmarks) + "\n" : print_lengths(benchmarks));
  return 0;
}

int bench_decode(const Arguments& arguments) {
  CommandLine line("weft bench decode CONFIG [section.key=value ...]",
                   "Generates tokens one by one with random weights and prints speed "
                   "and weights read, compared with the dense model of the same "
                   "shape. Compare only figures of the same machine and time.");
  line.words(1, 1000, "CONFIG")
      .option("prompt", "N", "tokens of the prompt", "64")
      .option("tokens", "N", "tokens to time", "64")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const RunConfig config = RunConfig::load(line.words()[0], line.overrides());
  const DecodeBenchmark result = benchmark_decode(
      config, {.prompt = line.integer("prompt"), .tokens = line.integer("tokens")});
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  return 0;
}

}  // namespace

std::span<const Command> bench_commands() {
  static constexpr Command commands[] = {
      {"step", "speed, utilisation and memory of a training step", bench_step, nullptr, true},
      {"scale", "how time and memory of a step grow with the length", bench_scale},
      {"decode", "speed of decoding, token by token", bench_decode},
  };
  return commands;
}

}  // namespace weft::experiments
