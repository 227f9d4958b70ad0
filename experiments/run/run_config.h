#pragma once

#include <string>
#include <vector>

#include "data/settings.h"
#include "experiments/config/describing.h"
#include "experiments/config/reader.h"
#include "experiments/run/train_settings.h"
#include "layers/settings/attention_plans.h"
#include "optim/settings.h"

namespace weft::experiments {

/// Everything that determines a run, read and checked.
struct RunConfig {
  Index seed = 1;
  Index threads = 0;
  data::DataSettings data;
  layers::ModelSettings model;
  layers::AttentionPlans attention;
  optim::OptimSettings optim;
  TrainSettings train;
  SampleSettings sample;

  ResolvedConfig resolved;
  std::vector<std::string> remarks;  ///< what was fitted to the command line

  /// A config file that gives the same run.
  std::string toml() const { return resolved.toml(); }
  /// The hash of the settings that determine results, which names a run.
  std::string identity() const;
  /// Whether training or attention reads the future where the model should not.
  bool leaks() const;

  /// From a file, with section.key=value arguments over it. Throws every problem at once.
  static RunConfig load(const std::string& path, const std::vector<std::string>& arguments = {});
  /// From what was written, wherever it came from.
  static RunConfig read(ConfigTree tree, ConfigReader::Names names = ConfigReader::Names::today);
  /// From the resolved text that a run keeps, of this weft or an earlier one.
  static RunConfig from_text(const std::string& toml, const std::string& name,
                             const std::vector<std::string>& arguments = {});
};

/// A section of a config and every setting that it can have.
struct SectionDescription {
  std::string section;  ///< "" for the top level, "data", "attention.NAME"
  std::vector<FieldDescription> keys;
};
std::vector<SectionDescription> describe_sections();

/// Every key with its type, default, meaning and the condition under which it exists, section by
/// section, as text.
std::string key_reference();

}  // namespace weft::experiments
