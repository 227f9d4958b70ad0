#pragma once

#include <cstdint>
#include <vector>

#include "core/arrays/tensor.h"
#include "core/rng.h"

namespace weft::layers {

using core::Index;
using core::Real;
using core::Tensor;

/// `count` rows of x, drawn without repetition as long as there are any.  x: [n, D] -> [count, D]
Tensor sampled_rows(const core::Rng& rng, const Tensor& x, Index count);

/// k-means++: the first centre drawn evenly, each next with probability in proportion to the
/// squared distance from the nearest one chosen.  x: [n, D] -> [count, D]
Tensor spread_rows(const core::Rng& rng, const Tensor& x, Index count);

struct Clustering {
  Tensor centres;                     ///< [k, D]
  std::vector<std::uint16_t> labels;  ///< of each row, the nearest centre
  double objective = 0;               ///< sum of squared distances to the nearest centre
  Index rounds = 0;                   ///< how often centres moved
};

/// Lloyd's k-means: assign to the nearest, move to the mean, until no label changes or
/// `most_rounds` are done. An empty cluster moves to the row farthest from its centre. With
/// `length` above 0, centres keep that length.
Clustering cluster(const Tensor& x, Tensor centres, Index most_rounds = 100, Real length = 0);

}  // namespace weft::layers
