#include "autograd/inventory.h"

#include "core/error.h"

namespace weft::autograd {

std::string Inventory::full(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + '.' + std::string(name);
}

std::size_t Inventory::push(std::string_view name) {
  const std::size_t outer = path_.size();
  path_ = full(name);
  return outer;
}

void Inventory::add(std::string_view name, Parameter& parameter) {
  const std::string path = full(name);
  for (const auto& [earlier, listed] : parameters_)
    core::require(earlier != path && listed != &parameter, "inventory: parameter '", path,
                  "' is listed before as '", earlier, "'");
  parameters_.push_back({path, &parameter});
}

void Inventory::add(std::string_view name, State& state) {
  const std::string path = full(name);
  for (const auto& [earlier, listed] : states_)
    core::require(earlier != path && listed != &state, "inventory: state '", path,
                  "' is listed before as '", earlier, "'");
  states_.push_back({path, &state});
}

}  // namespace weft::autograd
