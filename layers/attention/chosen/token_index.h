#pragma once

#include <functional>
#include <span>
#include <vector>

#include "layers/attention/chosen/packed_rows.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// The rows of keys that each query reads, the same for all heads.
struct RowChoice {
  Index most = 0;    ///< rows that a query reads at most
  Index length = 0;  ///< queries of a sequence
  /// [B, length, most]: numbers ascending, then -1; -1 alone for padding.
  std::vector<std::int32_t> numbers = {};

  /// Those of one query.
  std::span<const std::int32_t> of(Index b, Index query) const;
};

/// What an index computes from a layer's input.
struct IndexRows {
  std::vector<Var> q;  ///< of each of its heads, [B T, d]
  Var k;               ///< [B m, d]
  Var w;               ///< [B T, I]

  /// Those of one token: a pointer for each head.
  std::vector<const Real*> queries(Index token) const;
};

/// A cheap score by which queries choose keys, computed by small additional heads:
///   I_tj = sum_i w_ti max(0, scale q_ti . k_j)
struct TokenIndex {
  Index heads = 4, width = 32;  ///< I, d
  Real scale = 1;

  /// The scores of one query and the first `count` rows.  q: I of [d], w: [I] -> scores: [count]
  void score(const PackedRows& keys, const std::vector<const Real*>& q, const Real* w, Index count,
             std::vector<Real>& scores) const;
  /// The `selected` best of the first visible(b, t) rows, for every query. No array of queries x
  /// keys exists.
  RowChoice choose(const IndexRows& rows, Index batch, Index selected,
                   const std::function<Index(Index b, Index query)>& visible) const;
  /// The cost of one query's choice among this many rows; zero if it reads them all.
  Index flops(Index count, Index selected) const {
    return count > selected ? PackedRows::flops(heads * width, count) : 0;
  }

 private:
  void add_tile(const PackedRows& keys, const std::vector<const Real*>& q, const Real* w,
                Index tile, Real* scores) const;
};

}  // namespace weft::layers
