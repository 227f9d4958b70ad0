#include "experiments/exchange/gpt2_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/error.h"
#include "core/files/json_nesting.h"
#include "experiments/exchange/model_facts.h"
#include "layers/parts/norm.h"

namespace weft::experiments {
namespace {

constexpr std::string_view prefix = "transformer.";

/// The parts of a layer: weft's name, GPT-2's, and whether its weight is a matrix.
struct Part {
  std::string_view own, gpt2;
  bool matrix;
};
constexpr Part parts[] = {
    {"attention_norm", "ln_1", false},         {"attention.projection", "attn.c_attn", true},
    {"attention.output", "attn.c_proj", true}, {"feed_forward_norm", "ln_2", false},
    {"feed_forward.in", "mlp.c_fc", true},     {"feed_forward.out", "mlp.c_proj", true}};

/// "layers.3.attention.output.bias" -> "h.3.attn.c_proj.bias"
std::string gpt2_name(const std::string& own) {
  if (own == "tokens.weight") return "wte.weight";
  if (own == "positions.weight") return "wpe.weight";
  if (own.starts_with("final_norm.")) return "ln_f." + own.substr(own.rfind('.') + 1);
  static const std::regex layer("layers\\.([0-9]+)\\.(.*)\\.(weight|bias)");
  std::smatch found;
  core::require(std::regex_match(own, found, layer), "GPT-2 has no array for ", own);
  for (const Part& part : parts)
    if (part.own == found[2].str())
      return "h." + found[1].str() + "." + std::string(part.gpt2) + "." + found[3].str();
  throw core::Error("GPT-2 has no array for " + own);
}

bool is_matrix(const std::string& name) {
  return name.ends_with(".weight") && std::ranges::any_of(parts, [&](const Part& part) {
           return part.matrix && name.find("." + std::string(part.gpt2) + ".") != std::string::npos;
         });
}

/// "h.3.attn.c_proj.bias" -> "layers.3.attention.output.bias"; empty for what weft has not.
std::string own_name(const std::string& gpt2) {
  if (gpt2 == "wte.weight") return "tokens.weight";
  if (gpt2 == "wpe.weight") return "positions.weight";
  if (gpt2.starts_with("ln_f.")) return "final_norm." + gpt2.substr(5);
  static const std::regex layer("h\\.([0-9]+)\\.(.*)\\.(weight|bias)");
  std::smatch found;
  if (!std::regex_match(gpt2, found, layer)) return "";
  for (const Part& part : parts)
    if (part.gpt2 == found[2].str())
      return "layers." + found[1].str() + "." + std::string(part.own) + "." + found[3].str();
  return "";
}

std::vector<core::Real> read_all(const SafetensorsFile& file, const std::string& name) {
  std::vector<core::Real> values(std::size_t(file.arrays().at(name).shape.size()));
  file.read(name, values);
  return values;
}

}  // namespace

std::vector<std::string> beyond_gpt2(const RunConfig& config) {
  const layers::ModelSettings& model = config.model;
  std::vector<std::string> differences = beyond_dense(config);
  const auto expect = [&](bool holds, const char* difference) {
    if (!holds) differences.emplace_back(difference);
  };
  expect(model.task == layers::Task::language, "it predicts no tokens (model.task)");
  expect(model.causal, "it reads both ways (model.causal)");
  expect(model.norm == layers::NormKind::layer, "its norms are no layer norms (model.norm)");
  expect(model.norm_place == layers::NormPlace::pre,
         "its norms come after the sublayers (model.norm_place)");
  expect(model.positions == layers::PositionKind::learned,
         "its positions are not learned (model.positions)");
  expect(model.tie, "its output layer is its own (model.tie)");
  return differences;
}

const char* gpt2_activation(layers::Activation activation) {
  switch (activation) {
    case layers::Activation::gelu:
      return "gelu";
    case layers::Activation::gelu_tanh:
      return "gelu_new";
    case layers::Activation::relu:
      return "relu";
  }
  return "";
}

layers::Activation activation_of_gpt2(const std::string& config_json, const std::string& name) {
  const auto json =
      nlohmann::json::parse(core::nests_too_deep(config_json) ? "" : config_json, nullptr, false);
  core::require(json.is_object(), name, " is no JSON object");
  const auto found = json.find("activation_function");
  if (found == json.end()) return layers::Activation::gelu_tanh;  // what transformers assumes
  const std::string text = found->dump();
  // Three names of one formula.
  if (text == "\"gelu_new\"" || text == "\"gelu_pytorch_tanh\"" || text == "\"gelu_fast\"")
    return layers::Activation::gelu_tanh;
  if (text == "\"gelu\"") return layers::Activation::gelu;
  if (text == "\"relu\"") return layers::Activation::relu;
  throw core::Error(core::message_of(name, ": activation_function is ", text,
                                     "; weft has gelu, gelu_new and relu"));
}

ExportedModel as_gpt2(const ExportedModel& model, std::vector<std::vector<core::Real>>& kept) {
  ExportedModel gpt2;
  kept.reserve(model.arrays.size());
  for (const ConstNamedArray& array : model.arrays) {
    ConstNamedArray other{std::string(prefix) + gpt2_name(array.name), array.shape, array.values};
    if (is_matrix(other.name)) {
      kept.push_back(transposed(array.values, array.shape[0], array.shape[1]));
      other.values = kept.back();
      other.shape = {array.shape[1], array.shape[0]};
    }
    gpt2.arrays.push_back(std::move(other));
  }
  gpt2.texts = model.texts;
  gpt2.texts["format"] = "pt";  // what transformers asks for
  return gpt2;
}

std::string gpt2_config(const RunConfig& config, Index vocabulary) {
  const layers::ModelSettings& model = config.model;
  const nlohmann::ordered_json json = {{"model_type", "gpt2"},
                                       {"architectures", {"GPT2LMHeadModel"}},
                                       {"vocab_size", vocabulary},
                                       {"n_positions", config.data.length},
                                       {"n_embd", model.width},
                                       {"n_layer", model.layers},
                                       {"n_head", model.heads},
                                       {"n_inner", model.hidden()},
                                       {"activation_function", gpt2_activation(model.activation)},
                                       {"layer_norm_epsilon", layers::Norm::usual_eps},
                                       {"tie_word_embeddings", true}};
  return json.dump(2) + "\n";
}

Gpt2Names gpt2_names(const SafetensorsFile& file) {
  Gpt2Names names;
  std::string table;
  for (const auto& [name, array] : file.arrays()) {
    const std::string plain = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
    const std::string own = own_name(plain);
    if (plain.ends_with(".attn.bias") || plain.ends_with(".attn.masked_bias") ||
        plain == "lm_head.weight")
      names.ignored.insert(name);
    else if (!own.empty())
      names.renamed[name] = own;
    if (!own.empty() && is_matrix("." + plain)) names.turned.insert(name);
    if (own == "tokens.weight") table = name;
  }
  const bool has_head = file.arrays().contains("lm_head.weight");
  if (has_head && !table.empty() && read_all(file, "lm_head.weight") != read_all(file, table))
    throw core::Error(
        core::Fault::checkpoint,
        file.path().string() + ": its output layer is not its table of tokens, as GPT-2's is");
  return names;
}

}  // namespace weft::experiments
