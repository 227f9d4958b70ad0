#pragma once

#include <string>
#include <vector>

#include "experiments/run/run_config.h"
#include "experiments/sweep/file.h"
#include "experiments/sweep/plan.h"

namespace weft::experiments {

/// One run of a sweep.
struct Trial {
  std::string id;  ///< the first 8 digits of its config's identity, which also names its files
  RunConfig config;
  TrialSettings settings;  ///< those that distinguish it from other trials
  TuneStage stage = {};

  std::string label() const { return label_of(settings); }
};

/// A resolved value as people write it: the text dense, not ["dense"].
std::string shown_value(const std::string& toml);

/// Every trial of a sweep, in its order, read and checked as `weft train` would; with [tune] every
/// one that there can be, arm by arm: its rungs, then its seeds with each candidate. `arguments`
/// are section.key=value, laid over the base. Throws every problem of the file, of its base and of
/// all trials at once; a setting that varies without changing any run, two trials that are the same
/// run, an exclude that leaves out nothing or everything are errors too.
std::vector<Trial> trials_of(const SweepFile& sweep, const std::vector<std::string>& arguments);

/// "4 model.attention x 2 optim.lr x 3 seed"; empty when nothing varies.
std::string product_of(const SweepFile& sweep, const std::vector<Trial>& trials);

}  // namespace weft::experiments
