#include "experiments/sweep/score.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files/durable_file.h"
#include "core/files/json_nesting.h"

namespace weft::experiments {
namespace {

std::optional<double> number_in(const nlohmann::json& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  return json[name].get<double>();
}

void read_recall(const nlohmann::json& json, Score& score) {
  double right = 0, all = 0;
  for (const nlohmann::json& band : json.value("by_distance", nlohmann::json::array())) {
    const RecallBand own{band.at("from"), band.at("to"), band.at("tokens"), band.at("accuracy")};
    right += own.accuracy * double(own.tokens);
    all += double(own.tokens);
    score.recall.push_back(own);
  }
  if (all > 0) score.values["recall"] = right / all;
}

void read_steps(const nlohmann::json& json, Score& score) {
  const auto mean = number_in(json, "steps");
  if (!mean) return;
  score.values["steps"] = *mean;
  score.hardness = json.contains("by_distance") ? "distance" : json.value("difficulty", "position");
  const char* const bands = json.contains("by_distance")     ? "by_distance"
                            : json.contains("by_difficulty") ? "by_difficulty"
                                                             : "by_position";
  for (const nlohmann::json& band : json.value(bands, nlohmann::json::array()))
    score.steps.push_back({band.at("from"), band.at("to"), band.at("steps")});
}

}  // namespace

std::optional<Score> parse_score(const std::string& text) {
  if (core::nests_too_deep(text)) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  try {
    Score score;
    score.split = json.at("split");
    score.unit = json.at("unit");
    score.budget = json.value("budget", core::Index(0));
    for (const char* metric : {"bits", "loss", "perplexity", "accuracy"})
      score.values[metric] = json.at(metric);
    if (const auto whole = number_in(json, "sequence_accuracy"))
      score.values["sequence_accuracy"] = *whole;
    if (const auto f1 = number_in(json, "f1")) score.values["f1"] = *f1;
    score.floor_bits = number_in(json, "floor_bits");
    score.chance = number_in(json, "chance");
    if (json.contains("leak")) score.leak_nats = json["leak"].at("gap").get<double>();
    score.classifies = json.contains("classes");
    score.baselines = json.value("baselines", score.baselines);
    score.bits_baselines = json.value("bits_baselines", score.bits_baselines);
    read_recall(json, score);
    read_steps(json, score);
    for (const auto& [metric, value] : score.values)
      if (!std::isfinite(value)) return std::nullopt;
    return score;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::optional<Score> read_score(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  return parse_score(core::read_text_file(path));
}

}  // namespace weft::experiments
