#include "layers/attention/partition/decoding.h"

#include "core/counters.h"
#include "core/simd/kernels.h"
#include "layers/attention/partition/rows.h"

namespace weft::layers {

Index NodeStore::bytes() const {
  std::size_t numbers = 0;
  for (const Level& level : levels_) numbers += level.keys.size() + level.values.size();
  return Index(numbers * sizeof(Real));
}

std::vector<NodeStore::Edges> NodeStore::edges_of(Index level, Index x) const {
  if (level > 0) return {{0, x << level, (x + 1) << level, labels_.first(level), 0}};
  std::vector<Edges> edges{{0, x, x + 1, labels_.first(0), 0}};
  for (const WalkRun& run : walk_left(x, labels_.fan))
    edges.push_back({run.level, run.begin, run.end,
                     labels_.left(run.walk_level, run.first_step + run.end - run.begin - 1), -2});
  return edges;
}

void NodeStore::step(const StepInput& input, const Real* table, std::span<Real> out) {
  const Index level = PartitionRows::level_of(input.position);
  if (std::size_t(level) >= levels_.size()) levels_.resize(std::size_t(level) + 1);
  Level& own = levels_[std::size_t(level)];
  own.keys.insert(own.keys.end(), input.blocks[1].begin(), input.blocks[1].end());
  own.values.insert(own.values.end(), input.blocks[2].begin(), input.blocks[2].end());
  const std::vector<Edges> edges = edges_of(level, PartitionRows::index_of(input.position));
  for (Index head = 0; head < heads_; ++head) {
    const auto columns = [&](auto x) {
      return x.subspan(std::size_t(head * head_width_), std::size_t(head_width_));
    };
    attend(head, edges, columns(input.blocks[0]), table, columns(out));
  }
}

void NodeStore::attend(Index head, const std::vector<Edges>& edges, std::span<const Real> q,
                       const Real* table, std::span<Real> out) {
  const Index row = heads_ * head_width_;
  weights_.clear();
  for (const Edges& e : edges)
    for (Index x = e.begin; x < e.end; ++x) {
      const Real* key = levels_[std::size_t(e.level)].keys.data() + x * row + head * head_width_;
      const Real* label = table + (e.first + e.step * (x - e.begin)) * head_width_;
      weights_.push_back(scale_ * (core::simd().dot(q.data(), key, head_width_) +
                                   core::simd().dot(q.data(), label, head_width_)));
    }
  const Index count = Index(weights_.size());
  core::counters().scored_pairs.fetch_add(count, std::memory_order_relaxed);
  const Real top = core::simd().max(weights_.data(), count);
  const Real total = core::simd().exp_sum(weights_.data(), 1, top, count);
  std::ranges::fill(out, Real(0));
  const Real* weight = weights_.data();
  for (const Edges& e : edges)
    for (Index x = e.begin; x < e.end; ++x, ++weight)
      core::simd().axpy(*weight / total,
                        levels_[std::size_t(e.level)].values.data() + x * row + head * head_width_,
                        out.data(), head_width_);
}

}  // namespace weft::layers
