#pragma once

#include <vector>

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// A [tokens, ...] matrix seen as heads: element (token, head, column) at
/// data[token * stride + head * D + column].
struct ConstHeads {
  const Real* data;
  Index stride;
};
struct Heads {
  Real* data;
  Index stride;
};

ConstHeads heads_of(const HeadBlock& block);

/// The matrices that an attention op reads and their gradients. Projections usually share one
/// packed matrix, which then gets one packed gradient: no block is split off or put together.
class HeadGradients {
 public:
  explicit HeadGradients(const std::vector<HeadBlock>& blocks, Index block_width);

  /// What the op records as its inputs: each matrix once.
  const std::vector<Var>& sources() const { return sources_; }

  /// Gradients of the sources; columns that no block covers are zero, the rest uninitialised.
  autograd::Gradients allocate() const;
  /// Where block i's gradient is inside them.
  Heads heads(autograd::Gradients& gradients, std::size_t block) const;

 private:
  struct Place {
    std::size_t source;
    Index first;
  };
  std::vector<Var> sources_;
  std::vector<core::Shape> shapes_;
  std::vector<bool> covered_;
  std::vector<Place> places_;
};

}  // namespace weft::layers
