#include "experiments/train/run_start.h"

#include <optional>

#include "core/error.h"
#include "core/ranks/collectives.h"
#include "experiments/checkpoint/store.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

/// Generates one token, as a sample at the end of the training would.
void check_sample(const Trainer& trainer) {
  const SampleSettings& sample = trainer.config().sample;
  if (sample.tokens == 0 || sample.prompt.empty()) return;
  try {
    answer(trainer.model(), trainer.dataset().boundary(), trainer.dataset().encode(sample.prompt),
           {.tokens = 1, .temperature = 0, .top_k = 0, .seed = 0});
  } catch (const core::Error& error) {
    throw core::Error("sample.prompt cannot be continued: " + std::string(error.what()));
  }
}

}  // namespace

std::string source_of_start(const fs::path& directory, RunStart start, const std::string& given) {
  if (start == RunStart::resume) {
    if (!holds_run(directory)) return given;
    const bool has_saved = !CheckpointStore(RunFiles{directory}.checkpoints(), 1, 1).empty();
    return has_saved ? "" : read_status({directory}).init_from;
  }
  if (given.empty()) return given;
  std::error_code ignored;
  core::require(!fs::equivalent(directory, given, ignored), "--init-from ", given,
                ": that is the run which --fresh would delete; train into another directory with "
                "--run DIR");
  return fs::absolute(given).lexically_normal().string();
}

std::unique_ptr<Trainer> prepare_start(const RunConfig& config,
                                       std::unique_ptr<data::Dataset> dataset,
                                       const std::string& init_from,
                                       std::vector<std::string>& warnings, core::Ranks& ranks) {
  std::unique_ptr<Trainer> trainer;
  std::optional<Checkpoint> checkpoint;
  core::together(ranks, [&] {
    trainer = std::make_unique<Trainer>(config, std::move(dataset), ranks);
    if (init_from.empty() || !ranks.is_first()) return;
    CheckpointStore other(find_run(init_from).checkpoints(), 1, 1);
    checkpoint = other.load_last(warnings);
  });
  if (checkpoint)
    trainer->restore_model(*checkpoint);
  else if (!init_from.empty())
    trainer->receive();
  core::together(ranks, [&] {
    if (ranks.is_first()) check_sample(*trainer);
  });
  return trainer;
}

}  // namespace weft::experiments
