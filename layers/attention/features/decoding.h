#pragma once

#include <vector>

#include "layers/attention/features/carried_sums.h"
#include "layers/attention/features/chunks.h"

namespace weft::layers {

/// The sums of all keys so far, of every head: constant in the number of tokens. As in a whole
/// pass, tokens are summed by chunks first, so that rounding does not grow with every token.
class FeatureDecodeState final : public CopiedState<FeatureDecodeState> {
 public:
  FeatureDecodeState(const FeatureProblem& problem);
  Index bytes() const override { return Index(memory_.size() * sizeof(Real)); }

  /// One token.  q, k, v, out: [H D]
  void step(const FeatureProblem& problem, std::span<const Real> q, std::span<const Real> k,
            std::span<const Real> v, std::span<Real> out);

 private:
  void absorb(const FeatureProblem& problem, Index head, const Real* k, const Real* v);
  void attend(const FeatureProblem& problem, Index head, const Real* q, Real* out);
  CarriedSums all(Index head) { return sums(2 * head); }
  CarriedSums recent(Index head) { return sums(2 * head + 1); }
  CarriedSums sums(Index i) {
    return {memory_.data() + i * CarriedSums::size(features_, width_), features_, width_};
  }

  Index features_, width_;
  Index recent_tokens_ = 0;
  std::vector<Real> memory_, row_, reference_;
};

}  // namespace weft::layers
