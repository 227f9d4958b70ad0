#include "layers/attention/registry.h"

// One line for each mechanism, X(kind), which stands for configure_KIND in KIND.cpp.
#define WEFT_ATTENTIONS(X) \
  X(dense)                 \
  X(pattern)               \
  X(local)                 \
  X(strided)               \
  X(fixed)                 \
  X(dilated)               \
  X(global)                \
  X(random)                \
  X(longformer)            \
  X(bigbird)               \
  X(lsh)                   \
  X(routing)               \
  X(linear)                \
  X(taylor)                \
  X(efficient)             \
  X(performer)             \
  X(linformer)             \
  X(retention)             \
  X(gla)                   \
  X(ssd)                   \
  X(deltanet)              \
  X(gated_deltanet)        \
  X(kda)                   \
  X(gdn2)                  \
  X(fixed_span)            \
  X(adaptive_span)         \
  X(dynamic_span)

namespace weft::layers {

#define WEFT_DECLARE(kind) AttentionMaker configure_##kind(core::Fields&, const AttentionSite&);
WEFT_ATTENTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE

namespace {

#define WEFT_LIST(kind) {#kind, configure_##kind},
constexpr AttentionEntry entries[] = {WEFT_ATTENTIONS(WEFT_LIST)};
#undef WEFT_LIST

}  // namespace

std::span<const AttentionEntry> attention_registry() { return entries; }

std::vector<std::string_view> attention_kinds() {
  std::vector<std::string_view> kinds;
  for (const AttentionEntry& entry : entries) kinds.push_back(entry.kind);
  return kinds;
}

const AttentionEntry* find_attention(std::string_view kind) {
  for (const AttentionEntry& entry : entries)
    if (entry.kind == kind) return &entry;
  return nullptr;
}

}  // namespace weft::layers
