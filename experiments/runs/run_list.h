#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/run_files.h"

namespace weft::experiments {

/// What is known of a run without opening a checkpoint.
struct RunSummary {
  std::filesystem::path directory;
  std::string state;  ///< as status.json says, or "killed" (state_now)
  core::Index step = 0;
  std::optional<double> best = {};  ///< the lowest validation loss among its checkpoints
  core::Index bytes = 0;            ///< of all its files
  double age = 0;                   ///< seconds since it last wrote
};

RunSummary summarise_run(const std::filesystem::path& directory);

/// Every run at or below a directory, by path. Runs hold no other runs, links are not followed.
std::vector<RunSummary> find_runs(const std::filesystem::path& root);

/// Seconds in "7d", "12h", "30m" or "45s"; an Error for anything else.
double parse_age(const std::string& text);

}  // namespace weft::experiments
