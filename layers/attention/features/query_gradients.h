#pragma once

#include "layers/attention/features/key_sums.h"

namespace weft::layers {

/// What the backward sweeps read of the forward one, and its gradient.
struct FeatureGradientInputs {
  FeatureInputs inputs;
  ConstHeads out, dout;
  const Real* denominators;  ///< [B, H, n], null for shares
};

/// What the sweep over queries passes to the sweep over keys if features are shares.
struct ShareTrace {
  ShareTrace(const FeatureProblem& problem);

  /// Sums of the keys before each chunk, in units of its top: [P]
  Real* totals(Index lane, Index chunk) const;
  /// The gradient of what each query's features were divided by: [n, P]
  Real* divisor_gradients(Index lane) const;

 private:
  Index queries_, chunks_, features_;
  Tensor totals_, gradients_;
  Real *totals_data_ = nullptr, *gradients_data_ = nullptr;
};

/// g = dout / den and h = -(dout . out) / den of the queries of a chunk that are in `part`, zero
/// elsewhere. For shares g = dout and h = 0.  g: [queries, D], h: [queries]
void scale_upstream(const FeatureProblem& problem, const FeatureLane& lane, const Chunk& chunk,
                    const PlaceRange& part, const FeatureGradientInputs& in, const core::Matrix& g,
                    Real* h);

/// The gradients of the weights q_i . k_j of one chunk: g v^T + h where query i reads key j, zero
/// elsewhere.  -> [queries, keys]
void weight_gradients(core::Precision precision, const Chunk& chunk, const core::Matrix& g,
                      const Real* h, const core::ConstMatrix& v, const core::Matrix& to);

/// dq of chunks [begin, end) of a lane, from the sums of all keys before them.
void sweep_query_gradients(const FeatureProblem& problem, const FeatureLane& lane,
                           const FeatureGradientInputs& in, CarriedSums before, Index begin,
                           Index end, const ShareTrace& shares, Heads dq);

}  // namespace weft::layers
