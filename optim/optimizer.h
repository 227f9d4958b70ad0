#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/parameter_arena.h"
#include "optim/settings.h"

namespace weft::optim {

/// How one step moves the parameters.
struct Update {
  core::Index step = 0;       ///< numbered from 0; Adam corrects its bias by step + 1
  double rate = 0;            ///< the learning rate of this step
  double gradient_scale = 1;  ///< multiplies every gradient (clipping, averaging)
};

/// What an optimizer remembers of one parameter, for a checkpoint to save and to fill.
struct Moment {
  std::string name;  ///< "m/" or "v/" and the parameter's name
  core::Shape shape;
  std::span<core::Real> values;
};

/// An update rule with its memory: flat arrays laid out like those of the arena it was made for.
/// Together with the number of the step, which the caller passes, the moments are all its state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Moves the arena's values against its gradients: one pass, bitwise equal at any thread count.
  /// Of a row-sparse parameter the touched rows move, by the same rule at the parameter's own rate
  /// and without decay; the moments of its other rows stand still.  -> how many numbers moved
  core::Index step(autograd::ParameterArena& arena, const Update& update);

  /// Views, which live as long as the optimizer.
  std::vector<Moment> moments();
  /// Memory of the moments.
  core::Index bytes() const;

 protected:
  /// With a zeroed flat array for each of the given names.
  Optimizer(const autograd::ParameterArena& arena, const std::vector<std::string>& moments);

  /// A contiguous piece of one parameter.
  struct Stretch {
    const core::Real* gradient;
    core::Real* value;
    core::Index offset;  ///< in the moments' flat arrays
    core::Index size;
    bool decays;
    std::size_t parameter;  ///< its number among the arena's slots
  };
  /// Looks at all gradients before the first stretch is moved.
  virtual void prepare(const autograd::ParameterArena&, const Update&) {}
  /// The rule itself; called from several threads, each time with another stretch.
  virtual void move(const Stretch& stretch, const Update& update) = 0;

  /// The rows of row-sparse parameters.
  core::Index move_rows(autograd::ParameterArena& arena, const Update& update);

  core::Real* moment(std::size_t i) { return arrays_[i].values.get(); }

 private:
  struct FlatArray {
    std::string name;
    std::unique_ptr<core::Real[], void (*)(void*)> values;
  };

  std::vector<autograd::ParameterArena::Slot> slots_;
  core::Index size_;
  std::vector<FlatArray> arrays_;
};

/// The optimizer that the settings name, its moments zero.
std::unique_ptr<Optimizer> make_optimizer(const OptimSettings& settings,
                                          const autograd::ParameterArena& arena);

}  // namespace weft::optim
