#pragma once

#include <functional>

#include "autograd/parameter_arena.h"
#include "tests/golden/case.h"

namespace weft::golden {

/// Where a parameter is in a case whose arrays have an axis of layers in front, [layers, ...]:
/// which of the layers, and of its matrix [in, all] or vector [all] the columns from `first` on. A
/// matrix of a part is [out, in].
struct StackedPlacing {
  std::string array;
  Index layer = 0, first = 0;
};

/// The parameters of a part, filled from pieces of in/NAME of the case; their gradients are put
/// together again before they are compared.
class StackedParameters {
 public:
  using Placings = std::function<StackedPlacing(const std::string& parameter)>;

  template <class Part>
  StackedParameters(const Case& golden, Part& part, Placings placings)
      : placings_(std::move(placings)) {
    autograd::Inventory inventory;
    part.visit(inventory);
    fill(golden, inventory);
  }

  /// Compares grad/NAME of each array.
  void compare_gradients(Case& golden) const;

 private:
  void fill(const Case& golden, const autograd::Inventory& inventory);
  /// Element i of the parameter stands there in its array.
  std::size_t place(const Case& golden, const autograd::ParameterArena::Slot& slot, Index i) const;

  Placings placings_;
  std::unique_ptr<autograd::ParameterArena> arena_;
};

}  // namespace weft::golden
