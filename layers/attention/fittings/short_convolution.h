#pragma once

#include <string>
#include <vector>

#include "autograd/inventory.h"
#include "core/fields.h"
#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// Every column of a projection convolved over the last few tokens of its own sequence:
///   y_t = silu(b + sum_a w_a x_(t - taps + 1 + a)), zeros before the start.
/// One for several projections side by side.
class ShortConvolution {
 public:
  struct Part {
    std::string name;  ///< of its parameters
    Index columns;
  };
  ShortConvolution(const std::vector<Part>& parts, Index taps, bool bias = false);

  /// Blocks of the parts' columns -> blocks of one packed matrix. `past`, [B, past_size], holds the
  /// rows before the first ones, which get no gradient; empty for zeros.
  std::vector<HeadBlock> forward(const std::vector<HeadBlock>& blocks, Index length,
                                 const Tensor& past = {}) const;
  /// The last rows of every sequence, and of its past where it is shorter.  -> [B, past_size]
  Tensor last_rows(const std::vector<HeadBlock>& blocks, Index length, const Tensor& past) const;

  /// How many numbers a sequence keeps for its next token: taps - 1 rows of all parts, oldest
  /// first.
  Index past_size() const { return (taps_ - 1) * columns_; }
  /// One token.  past: [past_size], y: all parts side by side
  void step(const std::vector<std::span<const Real>>& blocks, std::span<Real> past,
            std::span<Real> y) const;

  Index columns() const { return columns_; }
  /// Of the output, for `tokens` tokens.
  Index bytes(Index tokens) const { return tokens * columns_ * Index(sizeof(Real)); }
  void visit(autograd::Inventory& inventory);

 private:
  friend struct ConvolutionCall;
  /// Weights as rows of taps: [taps, columns], then the biases or zeros.
  std::vector<Real> rows_of_taps() const;

  std::vector<Part> parts_;
  Index taps_, columns_ = 0;
  bool bias_;
  std::vector<autograd::Parameter> weights_, biases_;
};

/// Lists how many taps it has.
void list_conv(core::Fields& field, Index& taps);

}  // namespace weft::layers
