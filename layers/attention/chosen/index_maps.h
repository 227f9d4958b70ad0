#pragma once

#include "layers/attention/chosen/token_index.h"
#include "layers/attention/fittings/input_map.h"

namespace weft::layers {

/// The parameters of an index: queries, weights and keys, one key for all its heads, in standard
/// form with a learned gain and shift. Its inputs are held constant; a separate loss trains it.
class IndexMaps {
 public:
  /// `in`: columns of the layer's input
  IndexMaps(Index in, Index heads, Index width);

  const TokenIndex& index() const { return index_; }
  /// x: [B T, W], of queries, keys: [B m, W], what keys are made of; learns where the pass records.
  IndexRows forward(const Pass& pass, const Tensor& x, const Tensor& keys) const;
  /// Saves: what it makes, keys before their norm, too.
  Cost cost(Index tokens, Index keys) const;
  void visit(autograd::Inventory& inventory);

 private:
  TokenIndex index_;
  std::vector<InputMap> queries_;  ///< of each head
  InputMap keys_, weights_;
  autograd::Parameter gain_, shift_;
};

}  // namespace weft::layers
