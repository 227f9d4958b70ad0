#include "experiments/commands/saved_model.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/store.h"
#include "experiments/run/run_files.h"

namespace weft::experiments {

data::Split split_named(const std::string& name) {
  for (const data::Split split :
       {data::Split::training, data::Split::validation, data::Split::test})
    if (name == data::name_of(split)) return split;
  throw core::Error("--split " + name + " is none of training, validation, test");
}

void add_checkpoint_option(CommandLine& line) {
  line.option("ckpt", "WHICH", "best, last, or a checkpoint file", "last");
}

Checkpoint load_saved_checkpoint(const CommandLine& line) {
  const std::string& which = line.text("ckpt");
  const RunFiles files = find_run(line.words()[0]);
  std::vector<std::string> warnings;
  CheckpointStore store(files.checkpoints(), 1, 1);
  Checkpoint checkpoint = which == "best"   ? store.load_best(warnings)
                          : which == "last" ? store.load_last(warnings)
                                            : load_checkpoint(which);
  for (const std::string& warning : warnings) std::cerr << "warning: " << warning << '\n';
  return checkpoint;
}

RunConfig config_of(const Checkpoint& checkpoint, const std::vector<std::string>& overrides) {
  RunConfig config =
      RunConfig::from_text(checkpoint.config_toml, checkpoint.path.filename().string(), overrides);
  core::set_threads(config.threads);
  return config;
}

namespace {

/// Data that changed since the training is an error; other data that the command line names is not.
void check_data(const Checkpoint& checkpoint, const data::Dataset& dataset,
                const CommandLine& line) {
  if (checkpoint.text("data/fingerprint") == dataset.fingerprint()) return;
  const bool named = std::ranges::any_of(
      line.overrides(), [](const std::string& word) { return word.starts_with("data."); });
  if (!named)
    throw core::Error(core::Fault::data,
                      "the data is not what this run was trained on (its fingerprint differs)",
                      "Bring the file back, or name the data to use, as in data.path=FILE");
  std::cerr
      << "note: other data than the run was trained on; of one file, only the split is scored "
         "(--whole scores all of it)\n";
}

}  // namespace

LoadedModel load_saved_model(const CommandLine& line, const std::vector<std::string>& more) {
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  std::vector<std::string> overrides = line.overrides();
  overrides.insert(overrides.end(), more.begin(), more.end());
  LoadedModel saved(config_of(checkpoint, overrides), checkpoint);
  if (more.empty()) check_data(checkpoint, *saved.dataset, line);
  return saved;
}

TextModel load_text_model(const CommandLine& line) {
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  return load_text_model(config_of(checkpoint, line.overrides()), checkpoint);
}

}  // namespace weft::experiments
