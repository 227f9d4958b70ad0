#pragma once

#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// Pools `ratio` consecutive rows column by column, keys and values by the same weights
///   omega_a = softmax over a of z_a + bias_a.
/// rows of k, v and z: [ratio, columns], `step` numbers apart each, bias: [ratio, columns]
struct SoftPool {
  Index ratio, columns;

  struct Rows {
    ConstHeads k, v, z;
    const Real* bias;
  };
  /// The weights of one column.  weights: [ratio]
  void weigh(const Rows& rows, Index column, Real* weights) const;
  /// k, v: [columns]
  void pool(const Rows& rows, Real* k, Real* v) const;

  Index entries(Index tokens) const { return tokens / ratio; }

  /// Entries, followed by the tokens themselves, as keys and values of one attention.
  /// blocks k, v, z: [B T, columns] each, bias: [ratio, columns] -> [B (E + T), 2 columns]
  Var join(const std::vector<HeadBlock>& blocks, const Var& bias, Index batch) const;
};

}  // namespace weft::layers
