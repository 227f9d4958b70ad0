#pragma once

#include <optional>
#include <span>
#include <vector>

#include "layers/parts/positions.h"
#include "layers/stack/block.h"
#include "layers/stack/reversible_stack.h"
#include "layers/universal/halting.h"

namespace weft::layers {

/// The depth of a Universal Transformer: the same blocks run `steps` times. Each step t = 1, 2, ...
/// first adds P(position) + P(t) to what every position has:
///   X = H + P(position) + P(t),  Y = blocks(X),  H <- Y.
/// With halting, each position gives its steps weights that sum to 1 and is the sum of its
/// weighted Y (or their running mix) in the end; once it has halted its H stays as it is, unless
/// `halt_freeze` is false. Steps end when all real positions have halted.
class UniversalStack {
 public:
  /// `positions`: the kind of the model's positions; a table of steps is learned where theirs is.
  UniversalStack(const UniversalSettings& settings, Index width, PositionKind positions);

  Index steps() const { return settings_.steps; }

  /// x: [B * T, W] -> [B * T, W].  With `recompute`, the sweep runs every step again. With halting,
  /// `taken` is filled with the number of steps of every position, 0 in padding: [B * T].
  Var run(const Pass& pass, const std::vector<Block>& blocks, const Positions& positions,
          const Var& x, const Sequences& sequences, bool recompute,
          std::vector<float>* taken = nullptr) const;
  /// The same over two streams that begin as x; without halting.
  Var run(const Pass& pass, const ReversibleStack& stack, const Positions& positions, const Var& x,
          const Sequences& sequences, StreamOutput output) const;

  /// Single tokens, of which each halts by itself: all go through every step together, but for the
  /// parts that nobody reads of those that have halted. Their sequences have states of all
  /// branches, step by step.  x: [n, W] -> [n, W], [n, 2 W] from concatenated streams
  Tensor step(const StackRows& rows, const std::vector<Block>& blocks, const Positions& positions,
              const Tensor& x) const;
  Tensor step(const StackRows& rows, const ReversibleStack& stack, const Positions& positions,
              const Tensor& x, StreamOutput output) const;

  void visit(Inventory& inventory);

 private:
  /// The state passed from one step to the next.
  struct Carry {
    Var h, out;  ///< [B * T, W]
    Var spent;   ///< [B * T, 1]
  };
  struct Where;  ///< of a step: its number and the rows that still run

  Var coordinates(const Positions& positions, const Var& x, Index length, Index first,
                  Index step) const;
  /// The same for single tokens, each at its own position.
  Tensor coordinates(const Positions& positions, const Tensor& x, const StackRows& rows,
                     Index step) const;
  Var halting_run(const Pass& pass, const std::vector<Block>& blocks, const Positions& positions,
                  const Var& x, const Sequences& sequences, bool recompute,
                  std::vector<float>* taken) const;
  Carry halting_step(const Pass& pass, const std::vector<Block>& blocks, const Positions& positions,
                     const Carry& before, const Sequences& sequences,
                     const std::shared_ptr<Where>& where) const;
  /// Y of the running rows, and H of all.
  std::pair<Var, Var> layers_of_step(const Pass& pass, const std::vector<Block>& blocks,
                                     const Carry& before, Var x, const Sequences& sequences,
                                     const Where& where) const;

  UniversalSettings settings_;
  bool learned_;
  Positions steps_;
  std::optional<HaltingUnit> halting_;
};

}  // namespace weft::layers
