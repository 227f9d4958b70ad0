#include "tests/golden/stacked_parameters.h"

#include <map>

namespace weft::golden {

using autograd::ParameterArena;

std::size_t StackedParameters::place(const Case& golden, const ParameterArena::Slot& slot,
                                     Index i) const {
  const StackedPlacing placing = placings_(slot.name);
  const Index all = golden.shape("in/" + placing.array).back();
  const bool matrix = slot.shape.rank() == 2;
  const Index inputs = matrix ? slot.shape[1] : 1;
  const Index row = matrix ? i % inputs : 0, column = placing.first + (matrix ? i / inputs : i);
  return std::size_t((placing.layer * inputs + row) * all + column);
}

void StackedParameters::fill(const Case& golden, const autograd::Inventory& inventory) {
  arena_ = std::make_unique<ParameterArena>(inventory, ParameterArena::Use::training);
  for (const ParameterArena::Slot& slot : arena_->slots()) {
    const std::vector<double> numbers = golden.numbers("in/" + placings_(slot.name).array);
    for (Index i = 0; i < slot.size; ++i)
      arena_->value(slot)[std::size_t(i)] = Real(numbers.at(place(golden, slot, i)));
  }
}

void StackedParameters::compare_gradients(Case& golden) const {
  std::map<std::string, std::vector<Real>> gradients;
  for (const ParameterArena::Slot& slot : arena_->slots()) {
    const std::string array = placings_(slot.name).array;
    std::vector<Real>& all = gradients[array];
    all.resize(std::size_t(golden.shape("in/" + array).size()));
    for (Index i = 0; i < slot.size; ++i)
      all[place(golden, slot, i)] = arena_->gradients()[std::size_t(slot.offset + i)];
  }
  for (const auto& [array, numbers] : gradients) golden.compare("grad/" + array, numbers);
}

}  // namespace weft::golden
