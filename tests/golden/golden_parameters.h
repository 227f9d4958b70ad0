#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autograd/parameter_arena.h"
#include "tests/golden/case.h"

namespace weft::golden {

/// What a parameter is called in a case, and the order of the case's axes that is its own; without
/// axes they are the same. Neighbouring axes may be one axis of the parameter. One without a name
/// is not in the case: it stays 0 and is not compared.
struct Placing {
  Placing(const char* array_, std::vector<Index> axes_ = {})
      : array(array_), axes(std::move(axes_)) {}
  std::string array;
  std::vector<Index> axes;
};

/// The numbers of a case's array in another order of axes, and back.
std::vector<double> by_axes(const std::vector<double>& numbers, const core::Shape& shape,
                            const std::vector<Index>& axes);
std::vector<Real> back_by_axes(std::span<const Real> numbers, const core::Shape& shape,
                               const std::vector<Index>& axes);

/// The parameters of a part, filled from in/NAME of the case.
class GoldenParameters {
 public:
  using Placings = std::map<std::string, Placing>;

  template <class Part>
  GoldenParameters(const Case& golden, Part& part, const Placings& placings) : placings_(placings) {
    autograd::Inventory inventory;
    part.visit(inventory);
    fill(golden, inventory);
  }

  void zero_gradients() { arena_->zero_gradients(); }
  /// Compares grad/NAME of each.
  void compare_gradients(Case& golden) const;

 private:
  void fill(const Case& golden, const autograd::Inventory& inventory);

  Placings placings_;
  std::unique_ptr<autograd::ParameterArena> arena_;
};

}  // namespace weft::golden
