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

void Inventory::add_hooks(std::string_view name, StepHooks hooks) {
  hooks_.emplace_back(full(name), std::move(hooks));
}

void Inventory::constrain() const {
  for (const auto& [name, hooks] : hooks_) hooks.constrain();
}

std::vector<Metric> Inventory::metrics() const {
  std::vector<Metric> all;
  for (const auto& [name, hooks] : hooks_)
    for (Metric& own : hooks.metrics()) all.push_back({name + "." + own.name, own.value});
  return all;
}

}  // namespace weft::autograd
