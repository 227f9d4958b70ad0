#include "experiments/run/precision_text.h"

#include <algorithm>

#include "core/arrays/gemm.h"

namespace weft::experiments {
namespace {

/// Parts whose products are not made of rounded factors.
std::string parts_in_float(const RunConfig& config) {
  std::string parts;
  const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; };
  for (const std::string& name : config.model.attention_names())
    if (!layers::knows_bf16(config.attention.at(name))) add("attention " + name);
  const auto dense = layers::FeedForwardKind::dense;
  if (std::ranges::count(config.model.feedforward, dense) < std::ssize(config.model.feedforward))
    add("the feed-forward");
  if (config.model.output != layers::OutputKind::dense) add("the output layer");
  return parts;
}

}  // namespace

std::string describe_precision(const RunConfig& config) {
  if (config.train.precision == core::Precision::float32) return "";
  const std::string library = core::bf16_library();
  std::string text = library == "float"
                         ? "products of bf16 computed in float, slower than train.precision="
                           "\"float32\": it takes oneDNN (libdnnl-dev) and a processor with "
                           "AVX512_BF16"
                         : "products of bf16 by " + library;
  const std::string parts = parts_in_float(config);
  return parts.empty() ? text : text + "; in float32: " + parts;
}

}  // namespace weft::experiments
