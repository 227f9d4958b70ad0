#include "data/registry.h"

#include <algorithm>

#include "core/error.h"

// One line for each kind: X(kind) refers to configure_KIND, defined with the kind.
#define WEFT_DATA_KINDS(X) \
  X(recall)                \
  X(text)                  \
  X(noise)                 \
  X(duplicate)             \
  X(mqar)                  \
  X(copying)               \
  X(needle)                \
  X(group)                 \
  X(listops)               \
  X(labelled)              \
  X(facts)                 \
  X(qa)                    \
  X(marked)                \
  X(pairs)                 \
  X(images)                \
  X(shapes)

namespace weft::data {

#define WEFT_DECLARE(kind) DataPlan configure_##kind(core::Fields&, Index);
WEFT_DATA_KINDS(WEFT_DECLARE)
#undef WEFT_DECLARE

namespace {

std::vector<DataEntry>& entries() {
#define WEFT_LIST(kind) {#kind, configure_##kind},
  static std::vector<DataEntry> all = {WEFT_DATA_KINDS(WEFT_LIST)};
#undef WEFT_LIST
  return all;
}

}  // namespace

const std::vector<DataEntry>& data_registry() { return entries(); }

std::vector<std::string_view> data_kinds() {
  std::vector<std::string_view> kinds;
  for (const DataEntry& entry : entries()) kinds.push_back(entry.kind);
  return kinds;
}

void register_data_kind(std::string kind, ConfigureData configure) {
  core::require(std::ranges::find(entries(), kind, &DataEntry::kind) == entries().end(),
                "data: the kind '", kind, "' is already registered; choose another name");
  entries().push_back({std::move(kind), configure});
}

}  // namespace weft::data
