#include "experiments/checkpoint/list.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file_seal.h"
#include "core/files/json_nesting.h"

namespace weft::experiments {
namespace {

using Json = nlohmann::ordered_json;

constexpr int list_format = 1;
constexpr std::string_view name_start = "ckpt-", name_end = ".h5";

Json json_of(const CheckpointEntry& entry) {
  Json json{{"file", entry.file},
            {"step", entry.step},
            {"bytes", entry.bytes},
            {"xxh3_128", entry.xxh3_128}};
  if (entry.validation && std::isfinite(*entry.validation)) json["validation"] = *entry.validation;
  return json;
}

Json json_of(const std::vector<CheckpointEntry>& entries) {
  Json list = Json::array();
  for (const CheckpointEntry& entry : entries) list.push_back(json_of(entry));
  return list;
}

std::string digest_of(const std::vector<CheckpointEntry>& entries) {
  return core::xxh3_128(json_of(entries).dump());
}

CheckpointEntry entry_of(const nlohmann::json& json) {
  CheckpointEntry entry{.file = json.at("file"),
                        .step = json.at("step"),
                        .bytes = json.at("bytes"),
                        .xxh3_128 = json.at("xxh3_128"),
                        .validation = {}};
  if (json.contains("validation")) entry.validation = json.at("validation").get<double>();
  core::require(step_in_name(entry.file) == entry.step, "'", entry.file, "' is no checkpoint name");
  return entry;
}

}  // namespace

std::string print_checkpoint_list(const std::vector<CheckpointEntry>& entries) {
  const Json json{
      {"format", list_format}, {"checkpoints", json_of(entries)}, {"xxh3_128", digest_of(entries)}};
  return json.dump(2) + '\n';
}

std::vector<CheckpointEntry> parse_checkpoint_list(const std::string& text) {
  std::vector<CheckpointEntry> entries;
  try {
    core::require(!core::nests_too_deep(text), "it nests too deep");
    const auto json = nlohmann::json::parse(text);
    core::require(json.at("format") == list_format, "format ", json.at("format").dump(),
                  " is unknown");
    for (const auto& item : json.at("checkpoints")) entries.push_back(entry_of(item));
    core::require(json.at("xxh3_128") == digest_of(entries), "it does not match its checksum");
  } catch (const Json::exception&) {
    throw core::Error(core::Fault::checkpoint, "it is not a list of checkpoints");
  } catch (const core::Error& error) {
    throw core::Error(core::Fault::checkpoint, error.what());
  }
  return entries;
}

std::string checkpoint_file_name(core::Index step) {
  std::string digits = std::to_string(step);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return std::string(name_start) + digits + std::string(name_end);
}

std::optional<core::Index> step_in_name(const std::string& file) {
  if (!file.starts_with(name_start) || !file.ends_with(name_end)) return {};
  const char* first = file.data() + name_start.size();
  const char* last = file.data() + file.size() - name_end.size();
  core::Index step = 0;
  const auto [end, error] = std::from_chars(first, last, step);
  if (error != std::errc() || end != last || checkpoint_file_name(step) != file) return {};
  return step;
}

}  // namespace weft::experiments
