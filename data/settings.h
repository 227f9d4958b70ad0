#pragma once

#include <string>

#include "core/fields.h"
#include "data/plan.h"

namespace weft::data {

/// The section [data] of a config. Each kind declares its own settings with its dataset; they are
/// listed through registry.h.
struct DataSettings {
  std::string kind = "recall";  ///< a name in the registry
  Index length = 128;           ///< tokens in a sequence
  DataPlan plan = {};           ///< the chosen kind with its settings, set by fields()

  const DataTraits& traits() const { return plan.traits; }
  /// Visits kind and length, then the settings of the chosen kind.
  void fields(core::Fields& fields);
};

}  // namespace weft::data
