#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/train/resume_check.h"

namespace weft::experiments {
namespace {

/// A directory that is gone when this is.
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
  CommandLine line("weft verify-resume CONFIG [section.key=value ...]",
                   "Trains without a break, with a break and a checkpoint between, and with "
                   "another number of threads, and compares every bit.");
  line.words(1, 1000, "CONFIG")
      .option("at", "N", "the step after which training breaks off", "50")
      .option("steps", "N", "all steps", "100");
  if (!line.parse(arguments)) return 0;
  const Index at = line.integer("at"), steps = line.integer("steps");
  core::require(at >= 1 && at < steps, "--at ", at, " is not between 1 and --steps, ", steps);
  std::vector<std::string> overrides = line.overrides();
  for (const char* budget : {"train.tokens=0", "train.flops=0", "train.minutes=0"})
    overrides.emplace_back(budget);
  overrides.push_back("train.steps=" + std::to_string(steps));
  const RunConfig config = RunConfig::load(line.words()[0], overrides);

  core::set_threads(config.threads);
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
