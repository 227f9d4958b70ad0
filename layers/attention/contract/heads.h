#pragma once

#include <vector>

#include "core/arrays/bf16.h"
#include "core/arrays/gemm.h"
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

/// Heads as factors of products in some precision: where they are, or rounded to bfloat16.
class ProductHeads {
 public:
  /// `columns`: H D
  ProductHeads(core::Precision precision, ConstHeads x, Index tokens, Index columns);

  /// Columns from `column` on of tokens token, token + step, ...
  core::Operand at(Index token, Index column, Index rows, Index cols, Index step) const {
    if (rounded_.empty())
      return core::ConstMatrix{exact_.data + token * exact_.stride + column, rows, cols,
                               step * exact_.stride};
    const core::Bf16Matrix m = rounded_.view();
    return core::Bf16Matrix{m.data + token * m.stride + column, rows, cols, step * m.stride};
  }

 private:
  ConstHeads exact_;
  core::Bf16Array rounded_;
};

/// The matrices that an attention op reads and their gradients. Projections usually share one
/// packed matrix, which then gets one packed gradient: no block is split off or put together.
class HeadGradients {
 public:
  HeadGradients(const std::vector<HeadBlock>& blocks, Index block_width)
      : HeadGradients(blocks, std::vector<Index>(blocks.size(), block_width)) {}
  /// Blocks of several widths.
  HeadGradients(const std::vector<HeadBlock>& blocks, const std::vector<Index>& widths);

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
