#include "optim/registry.h"

#include <algorithm>

#include "core/error.h"

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

/// A deque, so that what was handed out stays where it is.
std::deque<OptimizerEntry>& entries() {
#define WEFT_LIST(kind) {#kind, configure_##kind},
  static std::deque<OptimizerEntry> all = {WEFT_OPTIMIZERS(WEFT_LIST)};
#undef WEFT_LIST
  return all;
}

}  // namespace

const std::deque<OptimizerEntry>& optimizer_registry() { return entries(); }

std::vector<std::string_view> optimizer_kinds() {
  std::vector<std::string_view> kinds;
  for (const OptimizerEntry& entry : entries()) kinds.push_back(entry.kind);
  return kinds;
}

void register_optimizer(std::string kind, ConfigureOptimizer configure) {
  core::require(std::ranges::find(entries(), kind, &OptimizerEntry::kind) == entries().end(),
                "optim: the kind '", kind, "' is already registered; choose another name");
  entries().push_back({std::move(kind), configure});
}

}  // namespace weft::optim
