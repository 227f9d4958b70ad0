#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "data/plan.h"

namespace weft::data {

/// Lists the settings of a kind of data to `fields`, checks them against sequences of `length`
/// tokens and returns a plan that holds them.
using ConfigureData = DataPlan (*)(core::Fields& fields, Index length);

/// A kind of data by name.
struct DataEntry {
  std::string kind;
  ConfigureData configure;
};

/// Every kind of data: those of registry.cpp in its order, then those registered by the program.
const std::vector<DataEntry>& data_registry();

/// Their names, the values of data.kind. Valid until another kind is registered.
std::vector<std::string_view> data_kinds();

/// Adds a kind of a program that uses this library; to be called before configs are read.
void register_data_kind(std::string kind, ConfigureData configure);

}  // namespace weft::data
