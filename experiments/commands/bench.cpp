#include <iostream>

#include "core/error.h"
#include "experiments/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/step_benchmark.h"

namespace weft::experiments {

int bench_command(const Arguments& arguments) {
  CommandLine line(
      "weft bench step CONFIG [section.key=value ...]",
      "Trains a few steps and prints speed, utilisation and memory. Compare figures of "
      "one machine and minute only.");
  line.words(2, 1000, "step CONFIG")
      .option("steps", "N", "steps to time after one to warm up", "5")
      .flag("json", "print one JSON object")
      .flag("profile", "print time, Gflop/s and bytes by layer and op");
  if (!line.parse(arguments)) return 0;
  core::require(line.words()[0] == "step", "weft bench knows only step, not ", line.words()[0]);
  const Index steps = line.integer("steps");
  core::require(steps >= 1, "--steps 0: nothing to time");
  const RunConfig config =
      RunConfig::load(line.words()[1], {line.words().begin() + 2, line.words().end()});
  autograd::Profile profile;
  const bool profiled = line.has("profile");
  const StepBenchmark result = benchmark_step(config, steps, profiled ? &profile : nullptr);
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  if (profiled) std::cout << print_profile(profile, steps);
  return 0;
}

}  // namespace weft::experiments
