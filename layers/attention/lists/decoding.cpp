#include "layers/attention/lists/decoding.h"

#include <algorithm>

#include "core/counters.h"
#include "core/simd/kernels.h"

namespace weft::layers {

Index MemberCache::bytes() const {
  std::size_t total = (keys.size() + values.size()) * sizeof(Real);
  for (const auto& list : members) total += list.size() * sizeof(std::int32_t);
  return Index(total);
}

void read_list(const std::vector<std::int32_t>& list, Index rank, Index chunk,
               std::vector<std::int32_t>& read) {
  const Index from = std::max<Index>(0, rank / chunk - 1) * chunk;
  read.insert(read.end(), list.begin() + from, list.end());
}

void attend_members(const MemberCache& cache, const MemberQuery& query,
                    const std::vector<std::int32_t>& read, Real* out) {
  const Real *keys = cache.keys.data() + query.first, *values = cache.values.data() + query.first;
  const Index n = Index(read.size());
  core::counters().scored_pairs.fetch_add(std::max<Index>(n, query.fallback >= 0),
                                          std::memory_order_relaxed);
  std::fill_n(out, query.width, Real(0));
  if (n == 0) {
    if (query.fallback >= 0) std::copy_n(values + query.fallback * query.row, query.width, out);
    return;
  }
  std::vector<Real> weights;
  for (const std::int32_t t : read)
    weights.push_back(core::simd().dot(query.q, keys + t * query.row, query.width));
  const Real top = core::simd().max(weights.data(), n);
  const Real total = core::simd().exp_sum(weights.data(), query.scale, query.scale * top, n);
  for (std::size_t i = 0; i < read.size(); ++i)
    core::simd().axpy(weights[i] / total, values + read[i] * query.row, out, query.width);
}

Index PrefixCache::bytes() const {
  std::size_t total = 0;
  for (const auto& block : blocks) total += block.size() * sizeof(Real);
  return Index(total);
}

void step_over_prefix(const Attention& attention, PrefixCache& cache, const StepInput& input,
                      std::span<Real> out) {
  cache.blocks.resize(input.blocks.size());
  AttentionInput whole;
  for (std::size_t i = 0; i < input.blocks.size(); ++i) {
    auto& block = cache.blocks[i];
    block.insert(block.end(), input.blocks[i].begin(), input.blocks[i].end());
    Tensor matrix({input.position + 1, Index(input.blocks[i].size())});
    std::ranges::copy(block, matrix.write().begin());
    whole.blocks.push_back({Var(matrix), 0});
  }
  whole.sequences = Sequences::self(1, input.position + 1, true);
  const Var attended = attention.forward(Pass(), whole);
  std::ranges::copy(attended.value().rows(input.position, 1).read(), out.begin());
}

}  // namespace weft::layers
