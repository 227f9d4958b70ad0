#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/run/curve.h"
#include "experiments/run/run_files.h"

namespace weft::experiments {

using core::Index;

/// What a run wrote at a step of its training: text, or the bytes of a PNG.
struct RunSample {
  Index step = 0;
  bool is_picture = false;
  std::string content = {};
};

/// All that the files of a run say, without its checkpoints.
struct RunRecord {
  std::string name;  ///< of its directory
  std::filesystem::path directory;
  RunStatus status;
  std::string state;  ///< of the status, or "killed"
  Index step = 0;     ///< the newest that was measured
  Index steps = 0;    ///< in all; 0 when it is not known
  std::map<std::string, std::string> settings;
  std::map<std::string, Curve> curves;   ///< by metric: loss, validation_loss, lr, ...
  std::map<std::string, Curve> figures;  ///< what mechanisms report of themselves
  /// By layer: the spans of its heads, by step.
  std::map<Index, std::vector<std::pair<Index, std::vector<double>>>> spans;
  std::map<std::string, std::vector<double>> lists;  ///< by metric, as last measured
  std::vector<RunSample> samples;                    ///< by step
  Facts start;                                       ///< the newest start
  double tokens_per_step = 0;
  double seconds = 0;  ///< spent in training steps

  const Curve* curve(const std::string& metric) const;
  /// Seconds until the last step, at the speed of the newest ones; negative when it is not known.
  double seconds_left() const;
};

/// Reads a run, live or not. What is absent, damaged or half written is left out.
RunRecord read_run(const std::filesystem::path& directory);

/// The settings in which some runs differ: rows of the key and each run's value.
std::vector<std::vector<std::string>> differing_settings(const std::vector<RunRecord>& runs);

}  // namespace weft::experiments
