#include "layers/attention/registry.h"

#include <algorithm>

#include "core/error.h"

// One line for each mechanism, X(kind), for configure_KIND in KIND.cpp.
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
  X(etc)                   \
  X(bp)                    \
  X(lsh)                   \
  X(routing)               \
  X(moba)                  \
  X(nsa)                   \
  X(indexed)               \
  X(compressed)            \
  X(forgetting)            \
  X(differential)          \
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

#define WEFT_DECLARE(kind) AttentionPlan configure_##kind(core::Fields&, const AttentionSite&);
WEFT_ATTENTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE

namespace {

/// Made at its first use, so that static initialisers may register; a deque, so that what was
/// handed out stays where it is.
std::deque<AttentionEntry>& entries() {
#define WEFT_LIST(kind) {#kind, configure_##kind},
  static std::deque<AttentionEntry> all = {WEFT_ATTENTIONS(WEFT_LIST)};
#undef WEFT_LIST
  return all;
}

bool is_name(std::string_view text) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.find_first_not_of(letters) == text.npos;
}

}  // namespace

const std::deque<AttentionEntry>& attention_registry() { return entries(); }

void register_attention(AttentionEntry entry) {
  core::require(is_name(entry.kind), "register_attention: \"", entry.kind,
                "\" is no name; take letters, digits, '_' and '-'");
  core::require(entry.configure != nullptr, "register_attention: ", entry.kind,
                " has no function to configure it");
  core::require(!find_attention(entry.kind), "register_attention: there is an attention \"",
                entry.kind, "\" already; take another name");
  entries().push_back(std::move(entry));
}

std::vector<std::string_view> attention_kinds() {
  std::vector<std::string_view> kinds;
  for (const AttentionEntry& entry : entries()) kinds.push_back(entry.kind);
  return kinds;
}

const AttentionEntry* find_attention(std::string_view kind) {
  const auto found = std::ranges::find(entries(), kind, &AttentionEntry::kind);
  return found == entries().end() ? nullptr : &*found;
}

}  // namespace weft::layers
