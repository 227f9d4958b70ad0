#pragma once

#include "layers/attention/pattern/key_store.h"

namespace weft::layers {

/// The heads of a decoding mechanism.
struct DecodeHeads {
  Index heads, width;
  Real scale;
  std::vector<Entmax> entmax = {};  ///< one for each head, or none for softmax
};

/// What decoding over patterns keeps: one store for all heads, or one for each, and the relative
/// terms of the offsets so far.
class KeyStores final : public DecodeState {
 public:
  /// `width`: columns of each store.
  KeyStores(std::vector<Pattern> patterns, Index width) : patterns_(std::move(patterns)) {
    for (const Pattern& pattern : patterns_) stores_.emplace_back(pattern, width);
  }

  Index bytes() const override;
  /// One token, all heads; `relative` and `edge` may be null.
  void step(const StepInput& input, const DecodeHeads& of, const RelativePositions* relative,
            const SoftEdge* edge, std::span<Real> out);

 private:
  /// Makes the terms hold every offset back from a position.
  void reach(Index position, const RelativePositions& relative, const DecodeHeads& of);

  std::vector<Pattern> patterns_;
  std::vector<KeyStore> stores_;
  RelativePositions::Terms tables_;
  RelativeTerms terms_;
};

}  // namespace weft::layers
