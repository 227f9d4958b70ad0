#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace weft::layers {

/// How positions are represented: by tables or sinusoids that are added to them, by rotating
/// queries and keys (rotary), or by offsets inside attention (shaw, t5, xl).
enum class PositionKind { learned, axial, sinusoidal, rotary, shaw, t5, xl, none, image };

/// The kinds with their names in configs, in the order in which these are listed.
const std::vector<std::pair<std::string_view, PositionKind>>& position_kinds();
std::string_view position_name(PositionKind kind);

}  // namespace weft::layers
