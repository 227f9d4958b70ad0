#include "layers/attention/clusters/nearest_tokens.h"

#include <algorithm>
#include <numeric>

#include "core/arrays/gemm.h"
#include "core/parallel.h"

namespace weft::layers {

std::vector<std::vector<std::uint32_t>> nearest_tokens(const Tensor& tokens, const Tensor& centres,
                                                       Index batch, Index window,
                                                       const std::vector<Index>* lengths) {
  const Index heads = centres.shape()[0], clusters = centres.shape()[1], width = centres.shape()[2];
  const Index length = tokens.shape()[0] / batch;
  std::vector<std::vector<std::uint32_t>> sets(std::size_t(batch * heads));
  core::parallel_for(batch * heads, 1, [&](Index lane, Index) {
    const Index b = lane / heads, h = lane % heads;
    const Index real = lengths ? (*lengths)[std::size_t(b)] : length;
    Tensor scores({clusters, real});
    const core::ConstMatrix own{tokens.data() + b * length * heads * width + h * width, real, width,
                                heads * width};
    core::gemm(1, core::ConstMatrix{centres.data() + h * clusters * width, clusters, width, width},
               core::transposed(own), 0, {scores.write().data(), clusters, real, real});
    std::vector<std::uint32_t> order(static_cast<std::size_t>(real));
    const auto count = std::min(window, real);
    for (Index c = 0; c < clusters; ++c) {
      const Real* row = scores.data() + c * real;
      std::iota(order.begin(), order.end(), 0u);
      std::ranges::nth_element(order, order.begin() + count, [row](auto i, auto j) {
        return row[i] > row[j] || (row[i] == row[j] && i < j);
      });
      std::sort(order.begin(), order.begin() + count);
      auto& set = sets[std::size_t(lane)];
      set.insert(set.end(), order.begin(), order.begin() + count);
    }
  });
  return sets;
}

}  // namespace weft::layers
