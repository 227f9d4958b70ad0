#pragma once

#include <optional>
#include <vector>

#include "layers/attention/contract/attention.h"
#include "layers/parts/norm.h"
#include "layers/star/star_settings.h"

namespace weft::layers {

/// The cycles of a Star-Transformer. The tokens x of a sequence are satellites h in a ring around a
/// relay s; h starts as x and s as the mean of the real tokens. In each cycle, with weights of its
/// own for ring and relay,
///   h_i <- norm(relu(attend(h_i; h_(i-1), h_i, h_(i+1), x_i, s))), all from the same h and s,
///   s   <- norm(relu(attend(s; s, h_0 .. h_(n-1)))), from the new h.
/// There is no residual and no feed-forward. With the reference norm the ring's queries, keys and
/// values of satellites are made from norm(h), no norm follows, and the relu is leaky.
///
/// Weights start uniformly by Glorot and Bengio, since no residual stream keeps the scale.
class StarStack {
 public:
  struct Shape {
    Index cycles = 1, width = 0, heads = 1;
    Real dropout = 0;
    double norm_eps = Norm::usual_eps;
  };
  StarStack(const Shape& shape, const StarSettings& settings);

  struct Output {
    Var satellites;  ///< [B * T, W]; rows of padding mean nothing
    Var relay;       ///< [B, W]
  };
  /// x: [B * T, W].  With `recompute`, the sweep runs every cycle again and keeps what enters it.
  Output run(const Pass& pass, const Var& x, const Sequences& sequences, bool recompute) const;

  Cost cost(const Sequences& sequences) const;
  /// Numbers in weight matrices of all cycles, and how many rows one of them is multiplied with
  /// for each token, on average over sequences of `length`.
  Index weights() const;
  double rows_per_token(Index length) const;
  void visit(Inventory& inventory);

 private:
  /// The ring's or the relay's part of a cycle.
  struct Part {
    Part(const Shape& shape, bool has_norm);
    void visit(Inventory& inventory);

    Linear queries, keys_values, output;
    std::optional<Norm> norm;
  };
  struct Cycle {
    Part ring, relay;
    void visit(Inventory& inventory);
  };

  Output cycle(const Pass& pass, const Cycle& own, const Output& before, const Var& x,
               const Sequences& sequences) const;
  Output recomputed(const Pass& pass, const Cycle& own, const Output& before, const Var& x,
                    const Sequences& sequences) const;
  /// What is applied to the heads' outputs.
  Var finish(const Pass& pass, const Part& part, const Var& heads) const;
  const Cycle& of(Index cycle) const { return cycles_[settings_.tie ? 0 : std::size_t(cycle)]; }

  Shape shape_;
  StarSettings settings_;
  std::vector<Cycle> cycles_;
};

}  // namespace weft::layers
