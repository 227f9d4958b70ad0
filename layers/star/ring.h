#pragma once

#include "core/real.h"
#include "layers/star/star_settings.h"

namespace weft::layers {

using core::Index;

/// Which satellites one satellite reads besides itself.
struct Neighbours {
  static constexpr Index nobody = -1;
  static constexpr Index zeros = -2;  ///< a key and a value of zeros
  Index left = nobody, right = nobody;
};

/// Those of satellite i of n, each satellite once: of two in a closed ring, the other is on the
/// left and nobody on the right.
inline Neighbours neighbours_of(StarRing ring, Index i, Index n) {
  const Index beyond = ring == StarRing::zero ? Neighbours::zeros : Neighbours::nobody;
  Neighbours around{i > 0 ? i - 1 : beyond, i + 1 < n ? i + 1 : beyond};
  if (ring != StarRing::cyclic || n == 1) return around;
  if (n == 2) return {1 - i, Neighbours::nobody};
  if (i == 0) around.left = n - 1;
  if (i == n - 1) around.right = 0;
  return around;
}

/// How many satellites a ring of n reads in all, zeros counted or not.
inline Index ring_reads(StarRing ring, Index n, bool zeros) {
  if (n == 0) return 0;
  if (ring == StarRing::zero && zeros) return 3 * n;
  if (ring == StarRing::cyclic && n > 2) return 3 * n;
  return 3 * n - 2;
}

}  // namespace weft::layers
