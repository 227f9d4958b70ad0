#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/plan.h"

namespace weft::layers {

/// A mechanism by name. `configure` lists its settings to `fields`, checks them against a typical
/// site and returns a plan that holds them.
struct AttentionEntry {
  std::string kind;
  std::function<AttentionPlan(core::Fields& fields, const AttentionSite& site)> configure;
};

/// Every mechanism: those of registry.cpp in its order, then what was registered.
const std::deque<AttentionEntry>& attention_registry();

/// Adds a mechanism of a program's own: configs can name it from then on, and `weft list` shows it.
/// Throws when the name is taken or no word of letters, digits, '_' and '-'. Call it before other
/// threads use the registry.
void register_attention(AttentionEntry entry);

/// Their names.
std::vector<std::string_view> attention_kinds();

/// Null when there is none of that name.
const AttentionEntry* find_attention(std::string_view kind);

}  // namespace weft::layers
