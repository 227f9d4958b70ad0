#include "layers/attention/chosen/block_selection.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "layers/attention/chosen/packed_rows.h"

namespace weft::layers {

void BlockSelection::score(std::span<const Real> weights, Index own,
                           std::vector<Real>& scores) const {
  scores.assign(std::size_t(own) + 1, Real(0));
  for (Index c = 0; c < Index(weights.size()); ++c) {
    const Index begin = c * entries.stride, end = begin + entries.block;
    for (Index j = begin / width; j <= std::min(own, (end - 1) / width); ++j) {
      const Index common = std::min(end, (j + 1) * width) - std::max(begin, j * width);
      scores[std::size_t(j)] += weights[std::size_t(c)] * (Real(common) / Real(entries.stride));
    }
  }
}

void BlockSelection::choose(std::vector<Real>& scores, Index own,
                            std::vector<std::int32_t>& chosen) const {
  if (!chooses(own)) {
    chosen.resize(std::size_t(own) + 1);
    std::iota(chosen.begin(), chosen.end(), 0);
    return;
  }
  constexpr Real always = std::numeric_limits<Real>::infinity();
  std::fill_n(scores.begin(), std::min(first, own + 1), always);
  std::fill_n(scores.end() - std::min(nearest, own + 1), std::min(nearest, own + 1), always);
  chosen.clear();
  append_best(scores, selected, chosen);
}

}  // namespace weft::layers
