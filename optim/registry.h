#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "optim/optimizer.h"

namespace weft::optim {

/// An update rule by name. `configure` lists its settings to `fields` and returns a plan that holds
/// them.
struct OptimizerEntry {
  std::string_view kind;
  OptimizerPlan (*configure)(core::Fields& fields);
};

/// Every update rule, in the order of registry.cpp.
std::span<const OptimizerEntry> optimizer_registry();

/// Their names.
std::vector<std::string_view> optimizer_kinds();

}  // namespace weft::optim
