#pragma once

#include <functional>

#include "layers/attention/features/chunk_features.h"

namespace weft::layers {

/// The settings that every sweep reads.
struct FeatureInputs {
  ConstHeads q, k, v;
  const Real* tops;  ///< null for weights

  /// The largest key of a lane before chunk c.
  const Real* top(const FeatureProblem& problem, Index lane, Index c) const {
    return tops ? tops + (lane * (problem.chunks() + 1) + c) * problem.map->features() : nullptr;
  }
};

/// [B, H, chunks + 1, P]: the largest key before each chunk and of all; empty for weights.
/// `before`: sums of keys before this call.
Tensor find_tops(const FeatureProblem& problem, ConstHeads k, const Tensor& before);

/// sums += k^T v, totals += sum of k: the entered part of a chunk joins what is carried.
void absorb_keys(core::Precision precision, const ChunkFeatures& features,
                 const core::ConstMatrix& v, CarriedSums& carried);

/// One CarriedSums for each lane and span.
class SpanSums {
 public:
  SpanSums(const FeatureProblem& problem, const FeatureSpans& spans)
      : spans_(spans.count()),
        features_(problem.map->features()),
        width_(problem.head_width),
        memory_({problem.lanes() * spans_, CarriedSums::size(features_, width_)}),
        data_(memory_.write().data()) {}

  CarriedSums at(Index lane, Index span) const {
    return {data_ + (lane * spans_ + span) * CarriedSums::size(features_, width_), features_,
            width_};
  }
  /// Sets a lane's sums of that span from those of `all` lanes, [B, H, numbers]; zero if empty.
  void start(Index lane, Index span, const Tensor& all) const {
    CarriedSums sums = at(lane, span);
    sums.clear();
    const Index numbers = CarriedSums::size(features_, width_);
    if (all.size() > 0)
      std::copy_n(all.data() + lane * numbers, numbers, data_ + (lane * spans_ + span) * numbers);
  }

 private:
  Index spans_, features_, width_;
  Tensor memory_;
  Real* data_;
};

/// For each lane and span the sums of all keys before it; `before`: of those before this call.
SpanSums sum_keys_before(const FeatureProblem& problem, const FeatureSpans& spans,
                         const FeatureInputs& inputs, const Tensor& before);

/// For each lane the sums of all spans, each of which `sum(lane, span, sums)` makes, in units of
/// those of span `chosen`.  -> [B, H, numbers]
Tensor sum_spans(
    const FeatureProblem& problem, Index chosen,
    const std::function<void(const FeatureLane& lane, Index span, CarriedSums sums)>& sum);

/// The chunks of a span that a sweep forward must visit end with the last that has queries, those
/// of a sweep backward with the first that has keys; nothing is carried beyond.
Index end_of_queries(const FeatureLane& lane, Index begin, Index end);
Index begin_of_keys(const FeatureLane& lane, Index begin, Index end);

}  // namespace weft::layers
