#include "tests/golden/pattern_atoms.h"

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace weft::golden {
namespace {

using core::Index;

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
  core::require(kind == "global", "pattern: there is no atom '", kind, "'");
  const std::string mode = atom.at("mode");
  return layers::global_pattern(atom.at("positions"), mode == "rows" ? layers::GlobalMode::rows
                                                      : mode == "columns"
                                                          ? layers::GlobalMode::columns
                                                          : layers::GlobalMode::both);
}

}  // namespace

layers::Pattern pattern_of(const std::string& atoms) {
  layers::Pattern pattern;
  for (const auto& atom : nlohmann::json::parse(atoms))
    pattern = layers::united(pattern, atom_of(atom));
  return pattern;
}

}  // namespace weft::golden
