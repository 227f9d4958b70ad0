#include "experiments/commands/saved_model.h"

#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/saved_spelling.h"
#include "experiments/checkpoint/store.h"
#include "experiments/run/run_files.h"

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

namespace {

RunConfig config_of(const Checkpoint& checkpoint, const CommandLine& line,
                    const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides = line.overrides();
  overrides.insert(overrides.end(), more.begin(), more.end());
  RunConfig config =
      RunConfig::from_text(checkpoint.config_toml, checkpoint.path.filename().string(), overrides);
  core::set_threads(config.threads);
  return config;
}

}  // namespace

LoadedModel load_saved_model(const CommandLine& line, const std::vector<std::string>& more) {
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  return LoadedModel(config_of(checkpoint, line, more), checkpoint);
}

TextModel load_text_model(const CommandLine& line) {
  const Checkpoint checkpoint = load_saved_checkpoint(line);
  const RunConfig config = config_of(checkpoint, line);
  const auto spelling = saved_spelling(checkpoint);
  if (spelling && !config.model.is_seq2seq()) {
    const layers::ModelShape shape{.vocabulary = spelling->vocabulary(),
                                   .length = config.data.length};
    return {LoadedModel(config, checkpoint, shape),
            [spelling](std::string_view text) { return spelling->encode(text); },
            [spelling](std::span<const core::Token> tokens) { return spelling->decode(tokens); }};
  }
  LoadedModel saved(config, checkpoint);
  const data::Dataset* dataset = saved.dataset.get();
  return {std::move(saved), [dataset](std::string_view text) { return dataset->encode(text); },
          [dataset](std::span<const core::Token> tokens) { return dataset->decode(tokens); }};
}

}  // namespace weft::experiments
