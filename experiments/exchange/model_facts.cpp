#include "experiments/exchange/model_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/config/text.h"
#include "layers/parts/norm.h"

namespace weft::experiments {
namespace {

/// A resolved value without the quotes of a text.
std::string plain(const RunConfig& config, const std::string& key) {
  std::string value = config.resolved.value_of(key);
  if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
  return value;
}

std::vector<std::string> kinds_of_layers(const RunConfig& config) {
  std::vector<std::string> kinds;
  for (Index i = 0; i < config.model.layers; ++i) {
    const std::string& name =
        config.model.attention[std::size_t(i) % config.model.attention.size()];
    const std::string kind = plain(config, "attention." + name + ".kind");
    kinds.push_back(kind.empty() ? name : kind);
  }
  return kinds;
}

}  // namespace

std::string model_facts(const RunConfig& config) {
  const layers::ModelSettings& model = config.model;
  nlohmann::ordered_json json = {{"task", plain(config, "model.task")},
                                 {"layers", model.layers},
                                 {"width", model.width},
                                 {"heads", model.heads},
                                 {"ff", model.hidden()},
                                 {"attention", kinds_of_layers(config)},
                                 {"causal", model.causal},
                                 {"positions", layers::position_name(model.positions)},
                                 {"norm", plain(config, "model.norm")},
                                 {"norm_place", plain(config, "model.norm_place")},
                                 {"norm_eps", layers::Norm::usual_eps},
                                 {"activation", layers::activation_name(model.activation)},
                                 {"tie", model.tie},
                                 {"length", config.data.length}};
  if (model.task == layers::Task::classify) {
    json["pool"] = plain(config, "model.pool");
    json["head"] = plain(config, "model.head");
  }
  json["beyond_dense"] = beyond_dense(config);
  return json.dump();
}

std::vector<std::string> beyond_dense(const RunConfig& config) {
  const layers::ModelSettings& model = config.model;
  std::vector<std::string> differences;
  const auto expect = [&](bool holds, const std::string& difference) {
    if (!holds) differences.push_back(difference);
  };
  for (const std::string& kind : kinds_of_layers(config))
    if (kind != "dense" &&
        std::ranges::find(differences, "attention is " + kind) == differences.end())
      differences.push_back("attention is " + kind);
  const auto defaults = RunConfig::read(ConfigTree()).resolved.values();
  for (const auto& [key, value] : config.resolved.values()) {
    const auto usual = defaults.find(key);
    if (key.starts_with("attention.") && usual != defaults.end() && usual->second != value)
      differences.push_back(key + " = " + value);
  }
  expect(model.attention == std::vector<std::string>{"dense"},
         "model.attention names other tables");
  expect(!model.is_star() && !model.universal.chosen(), "the trunk is no plain stack of layers");
  expect(!model.reversible, "layers are reversible");
  expect(model.norm != layers::NormKind::batch, "norms are over the batch");
  expect(model.feedforward == std::vector{layers::FeedForwardKind::dense},
         "feed-forwards are not dense");
  expect(model.output == layers::OutputKind::dense, "the output layer is not dense");
  using enum layers::PositionKind;
  const std::vector known = {learned, sinusoidal, rotary, none};
  expect(std::ranges::find(known, model.positions) != known.end(),
         "positions are " + std::string(layers::position_name(model.positions)));
  expect(!config.data.plan.traits.images, "inputs are images");
  const bool classifies = model.task == layers::Task::classify && !model.reads_root();
  expect(model.task == layers::Task::language || classifies,
         "the task is " + plain(config, "model.task"));
  return differences;
}

}  // namespace weft::experiments
