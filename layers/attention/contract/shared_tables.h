#pragma once

#include <map>
#include <memory>
#include <string>

#include "autograd/inventory.h"
#include "core/error.h"

namespace weft::layers {

/// Parameters that mechanisms of several layers hold in common. The model owns them and lists
/// them; the first mechanism that asks for a name makes the table, the others get the same one,
/// and their gradients add up in it.
class SharedTables {
 public:
  autograd::Parameter& lend(const std::string& name, const core::Shape& shape,
                            autograd::Init init) {
    auto& table = tables_[name];
    if (!table) table = std::make_unique<autograd::Parameter>(shape, init);
    core::require(table->shape() == shape, "shared table ", name, ": asked for as ", shape,
                  ", but another layer made it ", table->shape());
    return *table;
  }

  void visit(autograd::Inventory& inventory) {
    for (auto& [name, table] : tables_) inventory.add(name, *table);
  }

 private:
  std::map<std::string, std::unique_ptr<autograd::Parameter>> tables_;
};

}  // namespace weft::layers
