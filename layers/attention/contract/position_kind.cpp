#include "layers/attention/contract/position_kind.h"

#include <algorithm>

namespace weft::layers {

const std::vector<std::pair<std::string_view, PositionKind>>& position_kinds() {
  static const std::vector<std::pair<std::string_view, PositionKind>> kinds = {
      {"learned", PositionKind::learned},
      {"axial", PositionKind::axial},
      {"sinusoidal", PositionKind::sinusoidal},
      {"rotary", PositionKind::rotary},
      {"shaw", PositionKind::shaw},
      {"t5", PositionKind::t5},
      {"xl", PositionKind::xl},
      {"none", PositionKind::none},
      {"image", PositionKind::image}};
  return kinds;
}

std::string_view position_name(PositionKind kind) {
  return std::ranges::find(position_kinds(), kind, [](const auto& named) { return named.second; })
      ->first;
}

}  // namespace weft::layers
