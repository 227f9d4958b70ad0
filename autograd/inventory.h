#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/state.h"

namespace weft::autograd {

/// A number that a part reports of itself after a training step.
struct Metric {
  std::string name;
  double value;
};

/// What a part does between training steps.
struct StepHooks {
  std::function<void()> constrain;  ///< brings parameters back into their legal range
  std::function<std::vector<Metric>()> metrics;
};

/// What training must know of a model: its named parameters and states, and what its parts do
/// between steps, in the order the parts list them. Every part has `void visit(Inventory&)`; names
/// join the path of enclosing parts with dots. What it lists must outlive it.
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

  void add_hooks(std::string_view name, StepHooks hooks);

  /// Lists what `part` has below `name`.
  template <class Part>
  void enter(std::string_view name, Part& part) {
    const std::size_t outer = push(name);
    part.visit(*this);
    path_.resize(outer);
  }

  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  const std::vector<NamedState>& states() const { return states_; }

  /// Brings all parameters back into their legal range, after each optimizer step.
  void constrain() const;
  /// What the parts report of the last training step, under their path.
  std::vector<Metric> metrics() const;

 private:
  std::size_t push(std::string_view name);
  std::string full(std::string_view name) const;

  std::string path_;
  std::vector<NamedParameter> parameters_;
  std::vector<NamedState> states_;
  std::vector<std::pair<std::string, StepHooks>> hooks_;
};

}  // namespace weft::autograd
