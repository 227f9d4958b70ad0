#include "experiments/train/model_exchange.h"

#include <fstream>
#include <set>
#include <sstream>

#include "core/error.h"
#include "experiments/checkpoint/saved_spelling.h"

namespace weft::experiments {
namespace {

constexpr std::string_view parameters = "params/", states = "states/";

/// The name in a safetensors file: parameters go by their own names.
std::string outside_name(const std::string& name) {
  return name.starts_with(parameters) ? name.substr(parameters.size()) : name;
}

}  // namespace

void export_model(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  std::vector<ArraySource> arrays;
  for (const auto& [name, array] : checkpoint.arrays)
    if (name.starts_with(parameters) || name.starts_with(states))
      arrays.push_back({outside_name(name), array.shape, array.values});
  auto facts = describe_spelling(saved_spelling(checkpoint));
  facts["format"] = "weft";
  facts["config"] = checkpoint.config_toml;
  write_safetensors(path, arrays, facts);
}

std::map<std::string, std::string> read_rename_map(const std::filesystem::path& path) {
  std::ifstream file(path);
  core::require(file.is_open(), "cannot read the rename map ", path.string());
  std::map<std::string, std::string> renamed;
  std::string text;
  for (Index line = 1; std::getline(file, text); ++line) {
    std::istringstream words(text.substr(0, text.find('#')));
    std::string from, to, more;
    if (!(words >> from)) continue;
    core::require(bool(words >> to) && !(words >> more), path.string(), ":", line,
                  ": write OLD_NAME NEW_NAME");
    core::require(renamed.emplace(from, to).second, path.string(), ":", line, ": ", from,
                  " is renamed twice");
  }
  return renamed;
}

ImportReport import_model(Trainer& trainer, const SafetensorsFile& file,
                          const std::map<std::string, std::string>& renamed, bool partial) {
  std::map<std::string, std::string> offered;  // name in the model -> name in the file
  ImportReport report;
  for (const auto& [old, target] : renamed)
    if (!file.arrays().contains(old))
      report.differences.push_back(old + ": to be renamed, absent from the file");
  for (const auto& [name, array] : file.arrays()) {
    const auto found = renamed.find(name);
    const std::string& target = found == renamed.end() ? name : found->second;
    core::require(offered.emplace(target, name).second, file.path().string(),
                  ": two arrays would be ", target, " after renaming");
  }
  std::vector<std::pair<std::string, ArrayTarget>> matches;
  for (const ArrayTarget& wanted : trainer.model_arrays()) {
    const std::string name = outside_name(wanted.name);
    const auto found = offered.find(name);
    if (found == offered.end()) {
      report.differences.push_back(
          core::message_of(name, ": ", wanted.shape, " in the model, absent from the file"));
      continue;
    }
    const core::Shape& shape = file.arrays().at(found->second).shape;
    if (shape == wanted.shape)
      matches.emplace_back(found->second, wanted);
    else
      report.differences.push_back(
          core::message_of(name, ": ", wanted.shape, " in the model, ", shape, " in the file"));
    offered.erase(found);
  }
  for (const auto& [target, name] : offered)
    report.differences.push_back(core::message_of(target, ": ", file.arrays().at(name).shape,
                                                  " in the file, absent from the model"));
  report.matched = Index(matches.size());
  if (report.differences.empty() || partial)
    for (const auto& [name, wanted] : matches) file.read(name, wanted.values);
  return report;
}

}  // namespace weft::experiments
