#include "autograd/inventory.h"

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
  parameters_.push_back({full(name), &parameter});
}

void Inventory::add(std::string_view name, State& state) {
  states_.push_back({full(name), &state});
}

}  // namespace weft::autograd
