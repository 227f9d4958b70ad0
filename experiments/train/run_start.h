#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/run/run_directory.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {

/// The run whose model a run at `directory` starts from: the one that is given, or the one that an
/// interrupted start there has noted and not saved yet; empty where there is none. An Error when
/// the start would delete that run.
std::string source_of_start(const std::filesystem::path& directory, RunStart start,
                            const std::string& given);

/// The trainer of a run about to start, with the model of the run `init_from` unless that is empty.
/// All that can be wrong with the start is found here, before a directory is touched: a model that
/// does not fit, a sample.prompt that cannot be continued.
std::unique_ptr<Trainer> prepare_start(const RunConfig& config,
                                       std::unique_ptr<data::Dataset> dataset,
                                       const std::string& init_from,
                                       std::vector<std::string>& warnings,
                                       core::Ranks& ranks = core::one_rank());

}  // namespace weft::experiments
