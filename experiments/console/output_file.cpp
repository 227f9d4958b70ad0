#include "experiments/console/output_file.h"

#include "core/error.h"

namespace weft::experiments {

void check_output(const std::filesystem::path& output, const std::vector<std::string>& inputs,
                  bool replace) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  core::require(fs::is_directory(folder, ignored), "'", folder.string(),
                "' is no folder: make it, or write elsewhere");
  for (const std::string& input : inputs)
    core::require(!fs::equivalent(output, input, ignored), "'", output.string(),
                  "' is read or kept by this command: write to another file");
  core::require(replace || !fs::exists(output, ignored), "'", output.string(),
                "' exists: choose another name, or replace it with --force");
}

}  // namespace weft::experiments
