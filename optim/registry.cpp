#include "optim/registry.h"

// One line for each update rule: X(kind) refers to configure_KIND, defined with the rule.
#define WEFT_OPTIMIZERS(X) \
  X(adam)                  \
  X(adamw)                 \
  X(sgd)                   \
  X(adagrad)

namespace weft::optim {

#define WEFT_DECLARE(kind) OptimizerPlan configure_##kind(core::Fields&);
WEFT_OPTIMIZERS(WEFT_DECLARE)
#undef WEFT_DECLARE

namespace {

#define WEFT_LIST(kind) {#kind, configure_##kind},
constexpr OptimizerEntry entries[] = {WEFT_OPTIMIZERS(WEFT_LIST)};
#undef WEFT_LIST

}  // namespace

std::span<const OptimizerEntry> optimizer_registry() { return entries; }

std::vector<std::string_view> optimizer_kinds() {
  std::vector<std::string_view> kinds;
  for (const OptimizerEntry& entry : entries) kinds.push_back(entry.kind);
  return kinds;
}

}  // namespace weft::optim
