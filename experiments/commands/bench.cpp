#include <iostream>

#include "core/error.h"
#include "experiments/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/length_benchmark.h"
#include "experiments/step_benchmark.h"

namespace weft::experiments {

int bench_command(const Arguments& arguments) {
  CommandLine line(
      "weft bench step|scale CONFIG [section.key=value ...]",
      "Trains a few steps and prints speed, utilisation and memory; scale does so at several "
      "lengths and fits how time and memory grow. Compare figures of one machine and minute only.");
  line.words(2, 1000, "step|scale CONFIG")
      .option("steps", "N", "steps to time after one to warm up", "5")
      .option("lengths", "N,M", "scale: the lengths to try, such as 512,1k,2k", "512,1k,2k")
      .list("vary", "KEY=A,B", "scale: try each of these values; may be given several times")
      .flag("json", "print JSON")
      .flag("profile", "print time, Gflop/s and bytes by layer and op");
  if (!line.parse(arguments)) return 0;
  const std::string& what = line.words()[0];
  core::require(what == "step" || what == "scale", "weft bench knows step and scale, not ", what);
  const Index steps = line.integer("steps");
  core::require(steps >= 1, "--steps 0: nothing to time");
  const Arguments overrides{line.words().begin() + 2, line.words().end()};
  if (what == "scale") {
    const auto benchmarks =
        benchmark_lengths(line.words()[1], overrides, variants_of(line.texts("vary")),
                          lengths_of(line.text("lengths")), steps);
    std::cout << (line.has("json") ? lengths_json(benchmarks) + "\n" : print_lengths(benchmarks));
    return 0;
  }
  const RunConfig config = RunConfig::load(line.words()[1], overrides);
  autograd::Profile profile;
  const bool profiled = line.has("profile");
  const StepBenchmark result = benchmark_step(config, steps, profiled ? &profile : nullptr);
  std::cout << (line.has("json") ? benchmark_json(result) + "\n" : print_benchmark(result));
  if (profiled) std::cout << print_profile(profile, steps);
  return 0;
}

}  // namespace weft::experiments
