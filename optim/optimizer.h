#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/parameter_arena.h"
#include "core/arrays/named_array.h"
#include "optim/sharing.h"

namespace weft::optim {

/// How one step updates the parameters.
struct Update {
  core::Index step = 0;       ///< numbered from 0; Adam corrects its bias by step + 1
  double rate = 0;            ///< the learning rate of this step
  double gradient_scale = 1;  ///< multiplies every gradient (clipping, averaging)
};

/// An update rule and its moments: flat arrays with the layout of the arena it was made for.
/// The moments and the number of the step, which the caller passes, are its whole state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Moves the arena's values against its gradients: one pass, bitwise equal at any thread count.
  /// Of a row-sparse parameter the touched rows move, by the same rule at the parameter's own rate
  /// and without decay; the moments of its other rows do not change.  -> how many numbers moved
  core::Index step(autograd::ParameterArena& arena, const Update& update);

  /// Several ranks share the work from now on: of the dense parameters this one moves its slices,
  /// has moments for them alone, and a step begins to gather the others' values. Before the first
  /// step; what `sharing` names must outlive the optimizer.
  void share(const Sharing& sharing);
  const Sharing& sharing() const { return sharing_; }

  /// What it keeps of each parameter, for checkpoints: views, which live as long as the optimizer,
  /// named "m/" or "v/" and the parameter's name. Only of one that moves everything.
  std::vector<core::NamedArray> moments();
  /// The same of what it moves, as it lies: the owned stretches of the dense parameters, then the
  /// row-sparse ones.
  struct FlatMoment {
    std::string name;
    std::span<core::Real> values;
  };
  std::vector<FlatMoment> flat_moments();
  /// Memory of the moments.
  core::Index bytes() const;

 protected:
  /// Allocates one flat array of zeros for each of the given names.
  Optimizer(const autograd::ParameterArena& arena, const std::vector<std::string>& moments);

  /// A contiguous piece of one parameter.
  struct Stretch {
    const core::Real* gradient;
    core::Real* value;
    core::Index offset;  ///< in the moments' arrays
    core::Index size;
    bool decays;
    std::size_t parameter;  ///< its index among the arena's slots
  };
  /// Called once with all gradients before any stretch is moved.
  virtual void prepare(const autograd::ParameterArena&, const Update&) {}
  /// The rule itself; called from several threads, each time with a different stretch.
  virtual void move(const Stretch& stretch, const Update& update) = 0;

  /// The rows of row-sparse parameters.
  core::Index move_rows(autograd::ParameterArena& arena, const Update& update);

  /// The length of the gradient of each parameter, 0 for row-sparse ones: squares are summed over
  /// the pieces that a step moves.
  std::vector<double> gradient_lengths(const autograd::ParameterArena& arena) const;

  core::Real* moment(std::size_t i) { return arrays_[i].values.get(); }

 private:
  struct FlatArray {
    std::string name;
    std::unique_ptr<core::Real[], void (*)(void*)> values;
  };

  core::Index dense_moments() const;

  std::vector<autograd::ParameterArena::Slot> slots_;
  core::Index size_, dense_size_;
  std::vector<core::Stretch> owned_;  ///< of the dense parameters
  Sharing sharing_;
  std::vector<FlatArray> arrays_;
};

/// An update rule whose settings have been read: it makes an optimizer for an arena, with all
/// moments zero.
struct OptimizerPlan {
  /// Whether a step multiplies matrices by 1 - rate * weight_decay, which must stay positive.
  bool shrinks_weights = false;
  std::function<std::unique_ptr<Optimizer>(const autograd::ParameterArena&, double weight_decay)>
      make;
};

}  // namespace weft::optim
