#pragma once

#include <vector>

#include "autograd/state.h"
#include "layers/parts/linear.h"
#include "layers/universal/universal_settings.h"

namespace weft::layers {

/// w = 1 - spent where a position halts, else the logistic function of its logit: the weight of a
/// step. What a position has spent and all of its weights add up to 1.
/// logits and spent: [R, 1], halts: [R] -> [R, 1]
/// dlogit = dw w (1 - w) and dspent = 0, but where a position halts dlogit = 0 and dspent = -dw.
/// Saves: the weights, who halts.
Var step_weights(const Var& logits, const Var& spent, const std::vector<char>& halts);

/// Adaptive computation time: a unit that reads what enters a step, and by which each position
/// halts when its probabilities of halting add up to more than 1 - epsilon, or at the limit.
class HaltingUnit {
 public:
  HaltingUnit(const UniversalSettings& settings, Index width);

  /// x: [R, W], spent: [R, 1], what the running positions have before step t; step counts from 1.
  struct Decision {
    Var weights;                                     ///< [R, 1]
    std::shared_ptr<const std::vector<char>> halts;  ///< [R]
  };
  Decision decide(const Pass& pass, const Var& x, const Var& spent, Index step) const;

  /// Charges the loss for the positions that halt at this step, price (step + remainder) each as a
  /// share of all `real` positions, and counts them.  -> out
  Var charge(const Pass& pass, const Var& out, const Decision& decision, Index step,
             Index real) const;

  /// Mean steps, mean remainder and the share of positions that the limit halted, of the last
  /// training step.
  std::vector<autograd::Metric> metrics() const;
  void visit(Inventory& inventory);

 private:
  UniversalSettings settings_;
  Parameter weight_, bias_;  ///< [1, W], [1]
  /// Sums over positions of steps, remainders and those at the limit; positions: [4]
  mutable autograd::State use_;
};

}  // namespace weft::layers
