#include "layers/attention/clusters/centroids.h"

#include <algorithm>
#include <cmath>

#include "autograd/shard.h"
#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/clusters/centroid_rule.h"
#include "layers/attention/clusters/k_means.h"

namespace weft::layers {
namespace {

constexpr Index first_batch_rounds = 10;

/// The first state: drawn centres that no step has touched.
Tensor untouched(const CentroidSettings& settings, const core::Rng& stream) {
  const Index width = settings.width;
  const Tensor centres = Centroids::draw(settings, stream);
  Tensor rows({settings.heads, settings.clusters, width + 2}, 0);
  for (Index i = 0; i < settings.heads * settings.clusters; ++i) {
    Real* row = rows.write().data() + i * (width + 2);
    std::copy_n(centres.data() + i * width, width, row);
    row[width + 1] = -1;
  }
  return rows;
}

/// Copies columns [first, first + width) of each row of `from`, which has `stride` columns.
Tensor columns(const CentroidSettings& settings, const Real* from, Index stride, Index first) {
  Tensor centres({settings.heads, settings.clusters, settings.width});
  Real* to = centres.write().data();
  for (Index i = 0; i < settings.heads * settings.clusters; ++i)
    std::copy_n(from + i * stride + first, settings.width, to + i * settings.width);
  return centres;
}

}  // namespace

Centroids::Centroids(const CentroidSettings& settings, const core::Rng& stream)
    : settings_(settings),
      state_(untouched(settings, stream),
             [settings](std::span<Real> value, std::span<const Real> statistics) {
               move_centroids(settings, value, statistics);
             }) {}

Tensor Centroids::draw(const CentroidSettings& settings, const core::Rng& stream) {
  Tensor numbers({settings.heads, settings.clusters, settings.width});
  core::fill_normal(numbers.write(), stream, 1);
  Real* row = numbers.write().data();
  for (Index i = 0; i < settings.heads * settings.clusters; ++i, row += settings.width) {
    const std::vector<Real> drawn(row, row + settings.width);
    settings.form.apply(drawn.data(), row, settings.width);
  }
  return numbers;
}

bool Centroids::is_untrained() const {
  return state_.value().read()[std::size_t(settings_.width + 1)] < 0;
}

Tensor Centroids::first_centres(const core::Rng& stream, const Tensor& tokens) const {
  using Start = CentroidSettings::Start;
  if (settings_.start == Start::normal) return draw(settings_, stream);
  const Index n = tokens.shape()[0], width = settings_.width, clusters = settings_.clusters;
  Tensor centres({settings_.heads, clusters, width});
  for (Index h = 0; h < settings_.heads; ++h) {
    Tensor own({n, width});
    for (Index t = 0; t < n; ++t)
      std::copy_n(tokens.data() + (t * settings_.heads + h) * width, width,
                  own.write().data() + t * width);
    const core::Rng rng = stream.fold(std::uint64_t(h));
    Tensor chosen = settings_.start == Start::sample ? sampled_rows(rng, own, clusters)
                                                     : spread_rows(rng, own, clusters);
    if (settings_.start == Start::sample)
      chosen = cluster(own, std::move(chosen), first_batch_rounds, settings_.length()).centres;
    std::ranges::copy(chosen.read(), centres.write().data() + h * clusters * width);
  }
  return centres;
}

Tensor Centroids::in_use(const autograd::Pass& pass, const Tensor& tokens) const {
  const Index width = settings_.width;
  if (!is_untrained() || !pass.training())
    return columns(settings_, state_.value().data(), width + 2, 0);
  const auto decided = pass.decide("first_centroids", [&] {
    const Tensor* earlier = pass.journal() ? pass.journal()->proposed(state_) : nullptr;
    const Tensor centres = earlier ? columns(settings_, earlier->data(), 2 * width + 1, width + 1)
                                   : first_centres(pass.stream().fold("centroids"), tokens);
    return std::vector<Real>(centres.read().begin(), centres.read().end());
  });
  return columns(settings_, decided->data(), width, 0);
}

void Centroids::propose(const autograd::Pass& pass, const Tensor& in_use,
                        const std::vector<Members>& all) const {
  if (!pass.training() || pass.replaying() || !pass.journal()) return;
  // Where a batch is cut into shards, each makes its own first centres, and those of the first
  // stay.
  if (is_untrained() && autograd::shard_of(*pass.journal()) > 0) return;
  const Index width = settings_.width, heads = settings_.heads, clusters = settings_.clusters;
  const bool first = is_untrained() && !pass.journal()->proposed(state_);
  Tensor statistics({heads, clusters, 2 * width + 1}, 0);
  Real* rows = statistics.write().data();
  core::parallel_for(heads, 1, [&](Index h, Index) {
    const auto row = [&](Index c) { return rows + (h * clusters + c) * (2 * width + 1); };
    for (const Members& members : all)
      for (Index b = 0; b < members.batch; ++b) {
        const Index real = members.lengths ? (*members.lengths)[std::size_t(b)] : members.length;
        for (Index t = 0; t < real; ++t) {
          Real* own = row(members.clusters[std::size_t((b * heads + h) * members.length + t)]);
          const Real* token =
              members.tokens.data() + ((b * members.length + t) * heads + h) * width;
          core::simd().add(own, token, own, width);
          own[width] += 1;
        }
      }
    for (Index c = 0; c < clusters && first; ++c)
      std::copy_n(in_use.data() + (h * clusters + c) * width, width, row(c) + width + 1);
  });
  pass.propose(state_, std::move(statistics));
}

Tensor transposed_centres(const Tensor& centres) {
  const Index heads = centres.shape()[0], clusters = centres.shape()[1], width = centres.shape()[2];
  Tensor flipped({heads, width, clusters});
  Real* to = flipped.write().data();
  for (Index h = 0; h < heads; ++h)
    for (Index c = 0; c < clusters; ++c)
      for (Index d = 0; d < width; ++d)
        to[(h * width + d) * clusters + c] = centres.data()[(h * clusters + c) * width + d];
  return flipped;
}

Index join_cluster(const Real* token, const Real* centres, Index width, Index clusters,
                   Real* scratch) {
  core::simd().project(token, centres, scratch, width, clusters);
  return std::max_element(scratch, scratch + clusters) - scratch;
}

std::vector<std::uint16_t> join_clusters(const Tensor& tokens, const Tensor& centres, Index batch) {
  constexpr Index tokens_per_piece = 512;
  const Index heads = centres.shape()[0], clusters = centres.shape()[1], width = centres.shape()[2];
  const Index length = tokens.shape()[0] / batch;
  const Index pieces = (length + tokens_per_piece - 1) / tokens_per_piece;
  const Tensor flipped = transposed_centres(centres);
  std::vector<std::uint16_t> ids(std::size_t(batch * heads * length));
  core::parallel_for(batch * heads * pieces, 1, [&](Index task, Index) {
    const Index lane = task / pieces, first = task % pieces * tokens_per_piece;
    const Index b = lane / heads, h = lane % heads;
    std::vector<Real> scratch(static_cast<std::size_t>(clusters));
    for (Index t = first; t < std::min(length, first + tokens_per_piece); ++t)
      ids[std::size_t(lane * length + t)] = std::uint16_t(
          join_cluster(tokens.data() + ((b * length + t) * heads + h) * width,
                       flipped.data() + h * width * clusters, width, clusters, scratch.data()));
  });
  core::counters().flops.fetch_add(2 * tokens.size() * clusters, std::memory_order_relaxed);
  return ids;
}

}  // namespace weft::layers
