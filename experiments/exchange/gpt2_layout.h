#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/checkpoint/safetensors.h"
#include "experiments/exchange/model_exchange.h"

namespace weft::experiments {

/// What keeps a model from being GPT-2's: dense causal attention, layer norms before the branches
/// and at the end, learned positions, a tied output layer. One line for each difference.
std::vector<std::string> beyond_gpt2(const RunConfig& config);

/// The same model under the names of GPT2LMHeadModel, matrices turned to [in, out]. The arrays are
/// views into `kept` where they are not those of `model`.
ExportedModel as_gpt2(const ExportedModel& model, std::vector<std::vector<core::Real>>& kept);

/// The config.json with which transformers reads it.
std::string gpt2_config(const RunConfig& config, core::Index vocabulary);

/// "gelu", "gelu_new" or "relu", as transformers calls an activation.
const char* gpt2_activation(layers::Activation activation);
/// The activation that a config.json names; an Error, beginning with the file's name, where weft
/// has none like it.
layers::Activation activation_of_gpt2(const std::string& config_json, const std::string& name);

/// How the arrays of a GPT-2 file are converted.
struct Gpt2Names {
  std::map<std::string, std::string> renamed;  ///< names in the file to those of weft
  std::set<std::string> turned;                ///< matrices that are [in, out]
  std::set<std::string> ignored;               ///< masks, and an output layer that is tied
};
/// An Error when the output layer of the file is not its table of tokens.
Gpt2Names gpt2_names(const SafetensorsFile& file);

}  // namespace weft::experiments
