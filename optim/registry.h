#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "optim/optimizer.h"

namespace weft::optim {

/// Lists the settings of an update rule to `fields` and returns a plan that holds them.
using ConfigureOptimizer = OptimizerPlan (*)(core::Fields& fields);

/// An update rule by name.
struct OptimizerEntry {
  std::string kind;
  ConfigureOptimizer configure;
};

/// Every update rule: those of registry.cpp in its order, then those registered by the program.
const std::deque<OptimizerEntry>& optimizer_registry();

/// Their names, the values of optim.kind.
std::vector<std::string_view> optimizer_kinds();

/// Adds a rule of a program that uses this library; to be called before configs are read.
void register_optimizer(std::string kind, ConfigureOptimizer configure);

}  // namespace weft::optim
