#pragma once

#include "core/fields.h"
#include "layers/attention/fittings/input_map.h"

namespace weft::layers {

/// Settings of the mechanisms whose memory fades column by column.
struct ColumnFadingSettings {
  Index conv = 4;
  Index rank = 0;  ///< 0: the width of a head
  double floor = -5;
  Index chunk = 64;

  void fields(core::Fields& field);
  Index rank_at(const AttentionSite& site) const { return rank > 0 ? rank : site.head_width; }
};

/// Decays by column from the layer's input, y = x F1 F2 + c made by two matrices: bounded,
/// g = floor logistic(e^A y), or with a floor of 0 unbounded, g = -e^A softplus(y); one A a head.
class ColumnFading {
 public:
  ColumnFading(const ColumnFadingSettings& settings, const AttentionSite& site);

  /// x: [N, W] -> [N, H D]
  Var decays(const Var& x) const;
  /// Saves: the values between the matrices, the decays, and what they are made from.
  Cost cost(Index tokens) const;
  void visit(autograd::Inventory& inventory);

 private:
  Real floor_;
  Index columns_;
  InputMap map_;
  autograd::Parameter log_rate_;
};

}  // namespace weft::layers
