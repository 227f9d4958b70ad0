#include "experiments/commands/saved_model.h"

#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/checkpoint_file.h"
#include "experiments/checkpoint_store.h"
#include "experiments/run_files.h"

namespace weft::experiments {

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

Inference load_saved_model(const CommandLine& line) {
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  const RunConfig config = RunConfig::from_text(
      checkpoint.config_toml, checkpoint.path.filename().string(), line.overrides());
  core::set_threads(config.threads);
  return Inference(config, checkpoint);
}

}  // namespace weft::experiments
