#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "data/dataset.h"

namespace weft::data {

/// The share of scored test tokens that `solve` gets right. It sees the tokens up to the place of
/// the target, or only the last `context` of them.
template <class Solve>
double solver_score(const Dataset& data, Solve solve, std::size_t context = ~std::size_t(0)) {
  Index scored = 0, right = 0;
  const auto length = std::size_t(data.length());
  for (Index i = 0; i < data.evaluation_batches(Split::test, data.length()); ++i) {
    const Batch batch = data.evaluation(Split::test, i, data.length());
    const auto inputs = batch.inputs.read(), targets = batch.targets.read();
    for (std::size_t place = 0; place < targets.size(); ++place) {
      if (targets[place] == core::no_target) continue;
      const auto row = inputs.subspan(place / length * length, place % length + 1);
      ++scored;
      right += solve(row.last(std::min(context, row.size()))) == targets[place];
    }
  }
  return double(right) / double(scored);
}

/// Four standard deviations of a guess over that many tokens.
inline double guess_error(double chance, Index scored) {
  return 4 * std::sqrt(chance * (1 - chance) / double(scored));
}

}  // namespace weft::data
