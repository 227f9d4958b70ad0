#pragma once

#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// What is done to each token of each head before it is compared.
struct HeadForm {
  enum class Law {
    given,     ///< nothing
    unit,      ///< x / sqrt(|x|² + eps)
    standard,  ///< (x - mean) / sqrt(variance + eps), LayerNorm without gain and bias
  };
  Law law = Law::given;
  Real eps = 0;

  bool operator==(const HeadForm&) const = default;

  /// One token of one head.  x: [D] -> y: [D]
  void apply(const Real* x, Real* y, Index width) const;
  /// Adds to dx what dy gives:  unit: (dy - y (y . dy)) / length,
  /// standard: (dy - mean(dy) - y mean(y dy)) / deviation.
  void pull_back(const Real* x, const Real* dy, Real* dx, Index width) const;
};

/// All heads of all tokens.  x: [tokens, heads, D] -> [tokens, heads * D]
Tensor form_heads(const HeadForm& form, ConstHeads x, Index tokens, Index heads, Index width);
/// Adds the gradients of x.  dy: [tokens, heads * D]
void pull_back_heads(const HeadForm& form, ConstHeads x, const Tensor& dy, Index heads, Index width,
                     Heads dx);

}  // namespace weft::layers
