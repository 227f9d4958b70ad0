#pragma once

#include <string>

#include "tests/layers/given_fields.h"

namespace weft::layers {

/// A mechanism under settings that change what it does; the contract runs over it as over a kind.
/// Its naive twin stands in attention_oracles() under `name`.
struct AttentionVariant {
  std::string name;
  std::string kind;
  tests::Settings settings;
};

}  // namespace weft::layers
