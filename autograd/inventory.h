#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/state.h"

namespace weft::autograd {

/// The named parameters and states of a model, in the order its parts list them. Every part has
/// `void visit(Inventory&)`; names join the path of enclosing parts with dots.
class Inventory {
 public:
  struct NamedParameter {
    std::string name;
    Parameter* parameter;
  };
  struct NamedState {
    std::string name;
    State* state;
  };

  void add(std::string_view name, Parameter& parameter);
  void add(std::string_view name, State& state);

  /// Lists what `part` has below `name`.
  template <class Part>
  void enter(std::string_view name, Part& part) {
    const std::size_t outer = push(name);
    part.visit(*this);
    path_.resize(outer);
  }

  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  const std::vector<NamedState>& states() const { return states_; }

 private:
  std::size_t push(std::string_view name);
  std::string full(std::string_view name) const;

  std::string path_;
  std::vector<NamedParameter> parameters_;
  std::vector<NamedState> states_;
};

}  // namespace weft::autograd
