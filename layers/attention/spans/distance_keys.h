#pragma once

#include "layers/attention/contract/relative.h"

namespace weft::layers {

/// A learned key for each distance 1 .. span between a query and a key before it, the same for all
/// heads and, where the site lends tables, for all layers of that span.
class DistanceKeys final : public RelativePositions {
 public:
  DistanceKeys(Index span, const AttentionSite& site);

  Terms terms(const Pass& pass, Index past, Index future) const override;
  /// The table, unless it is shared.
  void visit(autograd::Inventory& inventory) override;

 private:
  Index span_;
  std::unique_ptr<autograd::Parameter> own_;
  const autograd::Parameter* keys_;  ///< [span, D], the nearest first
};

}  // namespace weft::layers
