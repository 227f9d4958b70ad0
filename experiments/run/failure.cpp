#include "experiments/run/failure.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/files/durable_file.h"
#include "core/files/json_nesting.h"

namespace weft::experiments {

using Json = nlohmann::json;

void record_failure(const Failure& failure) {
  const char* path = std::getenv(failure_file_variable);
  if (!path) return;
  const nlohmann::ordered_json json = {{"reason", failure.reason}, {"advice", failure.advice}};
  try {
    core::write_durably(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  } catch (const core::Error&) {
    // The failure itself has been printed, and the exit code says what kind it is.
  }
}

std::optional<Failure> read_failure(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return std::nullopt;
  const std::string text = core::read_text_file(path);
  const Json json = Json::parse(core::nests_too_deep(text) ? "" : text, nullptr, false);
  try {
    return Failure{json.at("reason"), json.at("advice")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace weft::experiments
