#pragma once

#include <filesystem>
#include <string>

#include "experiments/checkpoint/checkpoint.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {

/// What an export's user should know, in Markdown: architecture, formulas, the arrays with their
/// shapes, norms and activation, data, score and command. `file`: what the export is called;
/// `layout`: that of its names, "weft" or "gpt2".
std::string model_card(const Checkpoint& checkpoint, const RunConfig& config,
                       const std::filesystem::path& run, const std::string& file,
                       const std::string& layout);

}  // namespace weft::experiments
