#pragma once

#include <string_view>

namespace weft::layers {

/// Where a mechanism comes from: its formula, with i the token that reads and j a key, and the
/// paper that introduced it.
struct AttentionOrigin {
  std::string_view kind, formula, paper;
};

/// Null for a kind that a program registered itself.
const AttentionOrigin* find_origin(std::string_view kind);

}  // namespace weft::layers
