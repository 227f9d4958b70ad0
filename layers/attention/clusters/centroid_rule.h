#pragma once

#include <span>

#include "layers/attention/contract/head_form.h"

namespace weft::layers {

/// How centroids start and move.
struct CentroidSettings {
  Index heads = 1, clusters = 1, width = 0;
  /// The form in which tokens join clusters: standard or unit.
  HeadForm form;
  double decay = 0.999;
  /// Members enter as their plain sum instead of their mean, and nothing is rescaled.
  bool sums = false;
  /// With separate keys a sum counts queries and keys half each.
  bool separate_keys = false;
  enum class Start { normal, sample, spread };
  Start start = Start::normal;
  /// A cluster that no token has joined for this many steps splits the largest; 0 for never.
  Index reseed_after = 0;

  /// The length that centroids keep.
  Real length() const;
};

/// One step of all centres. value: [H, K, D + 2] as `Centroids::state` says; statistics:
/// [H, K, 2 D + 1]: the sum of the members, their number, and the centre's start if this is the
/// first step, else zeros.
void move_centroids(const CentroidSettings& settings, std::span<Real> value,
                    std::span<const Real> statistics);

}  // namespace weft::layers
