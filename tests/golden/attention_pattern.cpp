#include <nlohmann/json.hpp>

#include "core/error.h"
#include "layers/attention/pattern/attention.h"
#include "tests/golden/attention_replay.h"

namespace weft::golden {
namespace {

layers::Pattern atom_of(const nlohmann::json& atom) {
  const auto number = [&](const char* key) { return atom.at(key).get<Index>(); };
  const std::string kind = atom.at("kind");
  if (kind == "full") return layers::full_pattern();
  if (kind == "band") return layers::band_pattern(number("left"), number("right"));
  if (kind == "dilated")
    return layers::dilated_pattern(number("left"), number("right"), number("dilation"));
  if (kind == "block_local") return layers::block_local_pattern(number("block"));
  if (kind == "strided") return layers::strided_pattern(number("stride"));
  if (kind == "fixed") return layers::fixed_pattern(number("stride"), number("c"));
  if (kind == "blocks") return layers::blocks_pattern(number("block"), atom.at("rows"));
  core::require(kind == "global", "attention.pattern: there is no atom '", kind, "'");
  const std::string mode = atom.at("mode");
  return layers::global_pattern(atom.at("positions"), mode == "rows" ? layers::GlobalMode::rows
                                                      : mode == "columns"
                                                          ? layers::GlobalMode::columns
                                                          : layers::GlobalMode::both);
}

}  // namespace

void attention_pattern(Case& golden) {
  layers::Pattern pattern;
  for (const auto& atom : nlohmann::json::parse(golden.text("atoms")))
    pattern = layers::united(pattern, atom_of(atom));
  const core::Shape queries = golden.shape("in/q");
  const layers::AttentionSite site{
      .heads = queries[1], .head_width = queries[3], .precision = golden.precision()};
  replay_attention(golden, layers::PatternAttention(site, {pattern}), golden.flag("causal"));
}

}  // namespace weft::golden
