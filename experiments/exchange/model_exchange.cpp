#include "experiments/exchange/model_exchange.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "experiments/exchange/model_facts.h"
#include "experiments/exchange/npz_file.h"

namespace weft::experiments {
namespace {

constexpr std::string_view parameters = "params/", states = "states/";

/// The name in a safetensors file: parameters go by their own names.
std::string outside_name(const std::string& name) {
  return name.starts_with(parameters) ? name.substr(parameters.size()) : name;
}

}  // namespace

namespace {

bool is_npz(const std::filesystem::path& path) { return path.extension() == ".npz"; }

/// Facts that say how texts are read and written, but not which data there was.
bool is_of_text(const std::string& fact) {
  return fact.starts_with("data/") && fact != "data/fingerprint" && fact != "data/position";
}

}  // namespace

void check_ending(const std::filesystem::path& path) {
  core::require(is_npz(path) || path.extension() == ".safetensors", "-o ", path.string(),
                ": models are written as .safetensors or .npz; give one of these endings");
}

ExportedModel exported_model(const Checkpoint& checkpoint, const RunConfig& config) {
  ExportedModel model;
  for (const auto& [name, array] : checkpoint.arrays)
    if (name.starts_with(parameters) || name.starts_with(states))
      model.arrays.push_back({outside_name(name), array.shape, array.values});
  for (const auto& [name, fact] : checkpoint.facts)
    if (is_of_text(name))
      model.texts[name.substr(5)] =
          std::visit([](const auto& value) { return core::message_of(value); }, fact);
  model.texts["format"] = "weft";
  model.texts["config"] = checkpoint.config_toml;
  model.texts["model"] = model_facts(config);
  return model;
}

void write_model(const ExportedModel& model, const std::filesystem::path& path) {
  check_ending(path);
  is_npz(path) ? write_npz(path, model.arrays, model.texts)
               : write_safetensors(path, model.arrays, model.texts);
}

std::vector<core::Real> transposed(std::span<const core::Real> values, Index rows, Index columns) {
  std::vector<core::Real> turned(values.size());
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      turned[std::size_t(c * rows + r)] = values[std::size_t(r * columns + c)];
  return turned;
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
                          const std::map<std::string, std::string>& renamed, bool partial,
                          const std::set<std::string>& turned,
                          const std::set<std::string>& ignored) {
  std::map<std::string, std::string> offered;  // name in the model -> name in the file
  ImportReport report;
  for (const auto& [old, target] : renamed)
    if (!file.arrays().contains(old))
      report.differences.push_back(old + ": to be renamed, absent from the file");
  const auto shape_in = [&](const std::string& name) {
    const core::Shape& shape = file.arrays().at(name).shape;
    return turned.contains(name) && shape.rank() == 2 ? core::Shape{shape[1], shape[0]} : shape;
  };
  for (const auto& [name, array] : file.arrays()) {
    if (ignored.contains(name)) continue;
    const auto found = renamed.find(name);
    const std::string& target = found == renamed.end() ? name : found->second;
    core::require(offered.emplace(target, name).second, file.path().string(),
                  ": two arrays would be ", target, " after renaming");
  }
  std::vector<std::pair<std::string, NamedArray>> matches;
  for (const NamedArray& wanted : trainer.model_arrays()) {
    const std::string name = outside_name(wanted.name);
    const auto found = offered.find(name);
    if (found == offered.end()) {
      report.differences.push_back(
          core::message_of(name, ": ", wanted.shape, " in the model, absent from the file"));
      continue;
    }
    const core::Shape shape = shape_in(found->second);
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
  if (!report.differences.empty() && !partial) return report;
  for (const auto& [name, wanted] : matches) {
    file.read(name, wanted.values);
    if (turned.contains(name))
      std::ranges::copy(transposed(wanted.values, wanted.shape[1], wanted.shape[0]),
                        wanted.values.begin());
  }
  return report;
}

}  // namespace weft::experiments
