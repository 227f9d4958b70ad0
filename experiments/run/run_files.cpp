#include "experiments/run/run_files.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/json_nesting.h"
#include "experiments/hold/directory_lock.h"
#include "experiments/run/build_facts.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;  // by name: of an ordered one each member costs a search

/// The contents of a JSON file, or null when it is absent or damaged.
Json read_json(const fs::path& path) {
  if (!fs::is_regular_file(path)) return nullptr;
  const std::string text = core::read_text_file(path);
  return Json::parse(core::nests_too_deep(text) ? "" : text, nullptr, false);
}

void write_json(const fs::path& path, const auto& json) {
  core::write_durably(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n',
                      core::Fault::checkpoint);
}

/// A member of an object, or `otherwise` when it is absent or of another kind.
template <class T>
T member(const Json& json, const char* key, T otherwise) {
  try {
    return json.value(key, otherwise);
  } catch (const Json::exception&) {
    return otherwise;
  }
}

Fact fact_of(const Json& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.is_string() ? json.get<std::string>() : json.dump();
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return double(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) / 1000;
}

fs::path run_path(const fs::path& root, const std::string& name, const std::string& config_hash) {
  return root / (name + '-' + config_hash.substr(0, 8));
}

bool is_marked_as_run(const fs::path& directory) {
  const Json status = read_json(RunFiles{directory}.status());
  return member(status, "program", std::string()) == "weft";
}

bool holds_run(const fs::path& directory) {
  const RunFiles files{directory};
  return is_marked_as_run(directory) || fs::is_regular_file(files.checkpoints() / "last.json");
}

RunFiles find_run(const fs::path& directory) {
  core::require(fs::is_directory(directory), "no run at ", directory.string(),
                ": there is no such directory");
  core::require(holds_run(directory), "no run at ", directory.string(),
                ": the directory has neither a status.json written by weft nor checkpoints");
  return {directory};
}

RunStatus read_status(const RunFiles& files) {
  const Json json = read_json(files.status());
  RunStatus status{member(json, "state", std::string()), member(json, "step", core::Index(0)),
                   member(json, "reason", member(json, "detail", std::string())),
                   member(json, "advice", std::string())};
  // Earlier versions wrote no "saved"; but for a failure, the step was that of a checkpoint.
  const bool was_saved = status.state != "failed" && status.state != "diverged" && status.step > 0;
  status.saved = member(json, "saved", was_saved ? status.step : core::Index(-1));
  status.init_from = member(json, "init_from", std::string());
  return status;
}

std::string state_now(const RunFiles& files, const RunStatus& status) {
  return status.state == "running" && !DirectoryLock::is_held(files.directory) ? "killed"
                                                                               : status.state;
}

void write_status(const RunFiles& files, const RunStatus& status) {
  nlohmann::ordered_json json = {{"program", "weft"},       {"format", 1},
                                 {"state", status.state},   {"step", status.step},
                                 {"saved", status.saved},   {"reason", status.reason},
                                 {"advice", status.advice}, {"time", utc_now()}};
  if (status.state == "running") {
    utsname system{};
    ::uname(&system);
    json["pid"] = std::int64_t(::getpid());
    json["host"] = std::string(system.nodename);
  }
  if (!status.init_from.empty()) json["init_from"] = status.init_from;
  write_json(files.status(), json);
}

std::vector<Facts> read_starts(const RunFiles& files) {
  const Json json = read_json(files.environment());
  std::vector<Facts> starts;
  if (!json.is_object() || !json.contains("starts")) return starts;
  if (!json["starts"].is_array()) return starts;
  for (const Json& start : json["starts"]) {
    if (!start.is_object()) continue;
    Facts facts;
    for (const auto& [name, value] : start.items()) facts[name] = fact_of(value);
    starts.push_back(std::move(facts));
  }
  return starts;
}

void record_start(const RunFiles& files, Facts facts) {
  Json json = read_json(files.environment());
  if (!json.is_object() || !json.contains("starts") || !json["starts"].is_array())
    json = {{"starts", Json::array()}};
  Json start = Json::object();
  facts["time"] = utc_now();
  for (const auto& [name, fact] : facts)
    std::visit([&, &key = name](const auto& value) { start[key] = value; }, fact);
  json["starts"].push_back(start);
  write_json(files.environment(), json);
}

Facts describe_machine() {
  utsname system{};
  ::uname(&system);
  double load = 0;  // over the last minute: what else was at work
  if (::getloadavg(&load, 1) != 1) load = 0;
  return {{"version", version()},
          {"commit", commit()},
          {"compiler", compiler()},
          {"load", load},
          {"cpu", cpu_name()},
          {"cores", std::int64_t(std::thread::hardware_concurrency())},
          {"host", std::string(system.nodename)},
          {"system", core::message_of(system.sysname, ' ', system.release, ' ', system.machine)}};
}

}  // namespace weft::experiments
