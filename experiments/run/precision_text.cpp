#include "experiments/run/precision_text.h"

#include <algorithm>

#include "core/arrays/gemm.h"

namespace weft::experiments {
namespace {

/// Parts whose products are not made of rounded factors, with commas.
std::string parts_in_float(const RunConfig& config) {
  const layers::ModelSettings& model = config.model;
  std::string parts;
  const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; };
  const auto is_sparse = [](const layers::HeadGroupPlan& group) {
    return group.projection.sparse();
  };
  if (model.is_star()) add("the attention of ring and relay");
  for (const std::string& name : model.attention_names()) {
    const auto& groups = config.attention.at(name);
    if (!layers::knows_bf16(groups)) add("attention " + name);
    if (std::ranges::any_of(groups, is_sparse)) add("the projections of " + name);
  }
  if (model.relative().chosen()) add("relative positions");
  const auto dense = [](layers::FeedForwardKind kind) {
    return kind == layers::FeedForwardKind::dense;
  };
  if (!model.is_star() && !std::ranges::all_of(model.feedforward, dense)) add("the feed-forward");
  if (model.output != layers::OutputKind::dense) add("the output layer");
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
