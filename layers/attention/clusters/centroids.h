#pragma once

#include <cstdint>
#include <vector>

#include "autograd/pass.h"
#include "layers/attention/clusters/centroid_rule.h"

namespace weft::layers {

/// Cluster centres of each head, outside the gradient. Forward passes propose how many tokens
/// joined each cluster and their sum; once a step the centres move towards them. Until the first
/// step is committed they are what the first training pass of that step computes from its tokens
/// and its stream.
class Centroids {
 public:
  /// `stream` draws the centres before any training.
  Centroids(const CentroidSettings& settings, const core::Rng& stream);

  /// The centres in use, [H, K, D]. In the first training step they are decided once for all its
  /// passes.  tokens: [N, H D] in the settings' form
  Tensor in_use(const autograd::Pass& pass, const Tensor& tokens) const;

  /// The tokens of one pass and the clusters that they joined.
  struct Members {
    const Tensor& tokens;                        ///< [B T, H D] in the settings' form
    const std::vector<std::uint16_t>& clusters;  ///< [B, H, T]
    Index batch, length;
    const std::vector<Index>* lengths;  ///< of real tokens, or null
  };
  void propose(const autograd::Pass& pass, const Tensor& in_use,
               const std::vector<Members>& members) const;

  /// [H, K, D + 2]: each cluster's centre, how many tokens joined it in the last step, and for how
  /// many steps none has, -1 before the first.
  autograd::State& state() { return state_; }
  const autograd::State& state() const { return state_; }

  /// Normal numbers in the settings' form.  -> [H, K, D]
  static Tensor draw(const CentroidSettings& settings, const core::Rng& stream);

 private:
  bool is_untrained() const;
  Tensor first_centres(const core::Rng& stream, const Tensor& tokens) const;

  CentroidSettings settings_;
  mutable autograd::State state_;
};

/// The cluster of each token, whose centre has the largest product with it.
/// tokens: [B T, H D], centres: [H, K, D] -> [B, H, T]
std::vector<std::uint16_t> join_clusters(const Tensor& tokens, const Tensor& centres, Index batch);

/// The same for one token of one head.  centres: [D, K] transposed, scratch: [K]
Index join_cluster(const Real* token, const Real* centres, Index width, Index clusters,
                   Real* scratch);

/// centres: [H, K, D] -> [H, D, K]
Tensor transposed_centres(const Tensor& centres);

}  // namespace weft::layers
