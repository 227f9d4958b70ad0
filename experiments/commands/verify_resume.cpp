#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/forecast/memory_budget.h"
#include "experiments/train/rank_check.h"
#include "experiments/train/resume_check.h"

namespace weft::experiments {
namespace {

/// A directory that is removed with this object.
struct ScratchDirectory {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("weft-verify-" + std::to_string(getpid()));
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

bool report(const std::string& what, const std::vector<std::string>& differing) {
  std::cout << "verify-resume: " << what << ": ";
  if (differing.empty()) {
    std::cout << "parameters, moments, states, losses bitwise equal  PASS\n";
    return true;
  }
  std::cout << "FAIL, " << differing.size() << " differ:\n";
  for (const std::string& name : differing) std::cout << "  " << name << '\n';
  return false;
}

}  // namespace

int verify_resume_command(const Arguments& arguments) {
  CommandLine line(
      "weft verify-resume CONFIG [section.key=value ...]",
      "Trains the first steps of the run that CONFIG describes, with its own schedule: "
      "without interruption, interrupted at a checkpoint and resumed, and with another "
      "number of threads. Compares every bit; exits with 1 when one differs.");
  line.words(1, 1000, "CONFIG")
      .option("steps", "N", "steps to train (100, or all of a shorter run)")
      .option("at", "N", "the step after which training is interrupted (half of them)");
  if (!line.parse(arguments)) return 0;
  RunConfig given = RunConfig::load(line.words()[0], line.overrides());
  fit_memory(given);
  const RunConfig config = with_counted_steps(std::move(given));
  const Index all = config.train.steps;
  const Index steps = line.has("steps") ? line.integer("steps") : std::min<Index>(100, all);
  core::require(steps <= all, "--steps ", steps, ": the run that ", line.words()[0],
                " describes has only ", all);
  const Index at = line.has("at") ? line.integer("at") : steps / 2;
  core::require(at >= 1 && at < steps, "--at ", at, " is not between 1 and --steps, ", steps);

  core::set_threads(threads_of_rank(core::ranks(), config.threads));
  const Index threads = core::threads(), others = threads == 1 ? 2 : 1;
  const Trace straight = train_straight(config, steps);
  const ScratchDirectory scratch;
  const std::string whole = std::to_string(steps);
  bool equal =
      report(whole + " steps against " + std::to_string(at) + " + " + std::to_string(steps - at) +
                 " through a checkpoint",
             differences(straight, train_interrupted(config, at, steps, scratch.path.string())));
  core::set_threads(others);
  equal &= report(whole + " steps with " + std::to_string(threads) + " threads against " +
                      std::to_string(others),
                  differences(straight, train_straight(config, steps)));
  return equal ? 0 : 1;
}

}  // namespace weft::experiments
