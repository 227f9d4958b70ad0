#include "layers/attention/chosen/entry_choice.h"

#include <algorithm>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {

void EntryChoice::weigh(const PackedRows& keys, const Real* q, Index closed,
                        std::vector<Real>& weights) const {
  keys.multiply(q, closed, weights);
  weights.resize(std::size_t(closed));
  if (closed == 0) return;
  const Real top = core::simd().max(weights.data(), closed);
  const Real total = core::simd().exp_sum(weights.data(), scale, scale * top, closed);
  core::simd().scale(1 / total, weights.data(), closed);
}

void EntryChoice::add(const std::vector<Real>& weights, std::vector<Real>& sums) {
  sums.resize(weights.size(), Real(0));
  core::simd().add(weights.data(), sums.data(), sums.data(), Index(sums.size()));
}

Index EntryChoice::flops(const Sequences& s, Index b) const {
  Index total = 0;
  for (Index t = 0; t < s.real_keys(b); ++t)
    if (selection.chooses(t / selection.width))
      total += PackedRows::flops(width, selection.entries.count(t + 1));
  return total;
}

Index EntryChoice::flops(const Sequences& s) const {
  Index total = 0;
  for (Index b = 0; b < s.batch; ++b) total += heads * flops(s, b);
  return total;
}

BlockChoice EntryChoice::choose(const Sequences& s, const HeadBlock& q,
                                const Tensor& entries) const {
  BlockChoice choice{.width = block(s), .most = selection.selected, .length = s.queries};
  choice.numbers.assign(std::size_t(s.batch * key_heads * s.queries * choice.most), -1);
  const Index count = selection.entries.count(s.keys);
  const ConstHeads x = heads_of(q);
  core::parallel_for(s.batch * key_heads, 1, [&](Index lane, Index) {
    const Index b = lane / key_heads, g = lane % key_heads;
    PackedRows keys(width);
    for (Index c = 0; c < count; ++c)
      keys.append(entries.data() + (b * count + c) * entries.shape()[1] + g * width);
    std::vector<Real> weights, sums, scores;
    std::vector<std::int32_t> chosen;
    for (Index t = 0; t < s.real_keys(b); ++t) {
      const Index own = t / selection.width;
      if (selection.chooses(own)) {
        sums.clear();
        const Real* row = x.data + (b * s.queries + t) * x.stride + g * group() * width;
        for (Index h = 0; h < group(); ++h) {
          weigh(keys, row + h * width, selection.entries.count(t + 1), weights);
          add(weights, sums);
        }
        selection.score(sums, own, scores);
      }
      selection.choose(scores, own, chosen);
      std::ranges::copy(chosen, choice.of(lane, t));
    }
    core::counters().flops.fetch_add(group() * flops(s, b), std::memory_order_relaxed);
  });
  return choice;
}

}  // namespace weft::layers
