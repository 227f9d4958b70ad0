#pragma once

#include <span>
#include <string_view>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// A mechanism by name. `configure` lists its settings to `fields`, checks them against a typical
/// site and returns a maker that holds them.
struct AttentionEntry {
  std::string_view kind;
  AttentionMaker (*configure)(core::Fields& fields, const AttentionSite& site);
};

/// Every mechanism, in the order of registry.cpp.
std::span<const AttentionEntry> attention_registry();

/// Their names.
std::vector<std::string_view> attention_kinds();

/// Null when there is none of that name.
const AttentionEntry* find_attention(std::string_view kind);

}  // namespace weft::layers
