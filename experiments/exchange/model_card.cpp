#include "experiments/exchange/model_card.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "experiments/console/number_text.h"
#include "experiments/exchange/gpt2_layout.h"
#include "experiments/exchange/model_facts.h"
#include "experiments/run/run_files.h"
#include "layers/attention/origins.h"

namespace weft::experiments {
namespace {

using Json = nlohmann::ordered_json;

/// "gelu(x) = x Phi(x), exact (erf), not its tanh form"
std::string activation_formula(const std::string& activation) {
  if (activation == "relu") return "relu(x) = max(x, 0)";
  if (activation == "gelu_tanh")
    return "gelu(x) = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the tanh form, not the "
           "exact one";
  return "gelu(x) = x Phi(x), exact (erf), not its tanh form";
}

void write_formulas(const Json& model, std::ostream& out) {
  const bool pre = model["norm_place"] == "pre";
  out << "## Formulas\n\n"
      << "- Layer: " << (pre ? "x + f(norm(x))" : "norm(x + f(x))")
      << " for f = attention, then f = feed-forward" << (pre ? "; a final norm at the end" : "")
      << ".\n- Norm (" << model["norm"].get<std::string>() << "): "
      << (model["norm"] == "rms" ? "x / sqrt(mean(x^2) + eps) weight"
                                 : "(x - mean) / sqrt(variance + eps) weight + bias")
      << ", eps " << format_exact(model["norm_eps"]) << ", each token by itself.\n"
      << "- Feed-forward: " << (model["activation"] == "relu" ? "relu" : "gelu")
      << "(x W1^T + b1) W2^T + b2 with " << activation_formula(model["activation"]) << ".\n"
      << "- Attention: x W^T + b is q, k and v in this order, each " << model["heads"]
      << " heads side by side, head h in columns h D to (h + 1) D, D = width / heads; scores are "
         "q . k / sqrt(D).\n";
  std::string seen;
  for (const std::string kind : model["attention"]) {
    if (seen.find("|" + kind + "|") != std::string::npos) continue;
    seen += "|" + kind + "|";
    if (const layers::AttentionOrigin* origin = layers::find_origin(kind))
      out << "- `" << kind << "`: " << origin->formula << " (" << origin->paper << ").\n";
  }
  if (model["positions"] == "rotary")
    out << "- Rotary positions: columns t and t + D / 2 of queries and keys turn by position "
           "10000^(-2 t / D).\n";
  if (model["positions"] == "sinusoidal")
    out << "- Positions: columns 2 i and 2 i + 1 are sin and cos of position / 10000^(2 i / "
           "width), "
           "added to the tokens.\n";
  if (model["positions"] == "learned")
    out << "- Positions: a row of a table, added to the tokens.\n";
  if (model["task"] == "classify")
    out << "- Class: "
        << (model["pool"] == "cls"
                ? "the first of all positions, where the last token of the table "
                  "stands"
                : "the " + model["pool"].get<std::string>() + " of all positions")
        << ", then " << (model["head"] == "mlp" ? "relu(x W1^T + b1) W2^T + b2" : "x W^T + b")
        << ".\n";
}

void write_arrays(const Checkpoint& checkpoint, std::ostream& out) {
  out << "\n## Arrays\n\nRow-major, little-endian float32; weights are [out, in].\n\n"
         "| name | shape |\n|---|---|\n";
  for (const auto& [name, array] : checkpoint.arrays) {
    if (name.starts_with("params/"))
      out << "| `" << name.substr(7) << "` | ";
    else if (name.starts_with("states/"))
      out << "| `" << name << "` | ";
    else
      continue;
    out << core::message_of(array.shape) << " |\n";
  }
}

std::string text_of(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return "";
  return std::visit([](const auto& value) { return core::message_of(value); }, found->second);
}

}  // namespace

std::string model_card(const Checkpoint& checkpoint, const RunConfig& config,
                       const std::filesystem::path& run, const std::string& file,
                       const std::string& layout) {
  const Json model = Json::parse(model_facts(config));
  std::ostringstream out;
  Index numbers = 0;
  for (const auto& [name, array] : checkpoint.arrays)
    if (name.starts_with("params/")) numbers += array.shape.size();
  out << "# " << file << "\n\nA model of weft after step " << checkpoint.step << ", "
      << format_count(double(numbers)) << " parameters.\n\n## Architecture\n\n";
  for (const auto& [key, value] : model.items())
    if (key != "beyond_dense")
      out << "- " << key << ": " << (value.is_string() ? value.get<std::string>() : value.dump())
          << '\n';
  out << '\n';
  write_formulas(model, out);
  if (layout == "gpt2")
    out << "\nArrays have the names and shapes of GPT-2 (GPT2LMHeadModel): matrices are [in, out], "
           "the table of tokens is also the output layer. Load it with activation_function=\""
        << gpt2_activation(config.model.activation) << "\" and layer_norm_epsilon=1e-5.\n";
  else
    write_arrays(checkpoint, out);
  out << "\n## Data\n\n";
  for (const auto& [key, value] : config.resolved.values())
    if (key.starts_with("data.")) out << "- " << key << " = " << value << '\n';
  for (const auto& [name, fact] : checkpoint.facts)
    if (name.starts_with("data/") && name != "data/position" && name != "data/alphabet" &&
        name != "data/tokenizer")
      out << "- " << name.substr(5) << ": " << text_of(checkpoint.facts, name) << '\n';
  out << "\n## Score\n\n";
  if (checkpoint.validation)
    out << "Validation loss " << format_fixed(*checkpoint.validation, 4)
        << " nats per scored item.\n";
  else
    out << "Not measured at this step; weft eval measures it.\n";
  out << "\n## Command\n\n";
  for (const Facts& start : read_starts({run}))
    out << "    " << text_of(start, "command") << "    (weft " << text_of(start, "version")
        << ")\n";
  out << "\n## Config\n\n```toml\n" << checkpoint.config_toml << "```\n";
  return out.str();
}

}  // namespace weft::experiments
