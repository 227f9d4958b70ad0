#include "data/settings.h"

#include "data/registry.h"

namespace weft::data {

void DataSettings::fields(core::Fields& fields) {
  fields.choice("kind", kind, "where the data comes from", data_kinds());
  fields.integer("length", length, "tokens in a sequence", core::at_least(1));
  for (const DataEntry& entry : data_registry())
    fields.when("kind", {entry.kind}, [&] {
      DataPlan configured = entry.configure(fields, length);
      if (entry.kind == kind) plan = std::move(configured);
    });
}

}  // namespace weft::data
