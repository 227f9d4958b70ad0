#include "layers/attention/features/key_sums.h"

#include "core/parallel.h"

namespace weft::layers {

Tensor find_tops(const FeatureProblem& problem, ConstHeads k) {
  if (problem.map->form() == FeatureForm::weights) return {};
  const Index chunks = problem.chunks(), features = problem.map->features();
  Tensor tops({problem.sequences.batch, problem.heads, chunks + 1, features}, no_key);
  Real* data = tops.write().data();
  core::parallel_for(problem.lanes() * chunks, 8, [&](Index begin, Index end) {
    Tensor scratch({problem.rows(), features});
    Real* mapped = scratch.write().data();
    for (Index task = begin; task < end; ++task) {
      const FeatureLane lane(problem, task / chunks);
      const Index c = task % chunks;
      const Chunk chunk = lane.chunk(c);
      if (chunk.keys == 0) continue;
      const core::Matrix f{mapped, chunk.keys, features, features};
      problem.map->map_keys(lane.keys(k, chunk.key, chunk.keys), f);
      raise_to_columns(f, data + (lane.index * (chunks + 1) + c + 1) * features);
    }
  });
  for (Index lane = 0; lane < problem.lanes(); ++lane) {
    Real* row = data + lane * (chunks + 1) * features;
    for (Index c = 0; c < chunks; ++c, row += features)
      raise_to_columns({row, 1, features, features}, row + features);
  }
  return tops;
}

void absorb_keys(core::Precision precision, const ChunkFeatures& features,
                 const core::ConstMatrix& v, CarriedSums& carried) {
  const core::Matrix& k = features.k;
  if (k.rows == 0) return;
  core::gemm(precision, 1, core::transposed(k), v, 1, carried.sums());
  for (Index r = 0; r < k.rows; ++r)
    core::simd().add(k.data + r * k.stride, carried.totals(), carried.totals(), k.cols);
}

namespace {

/// The keys of chunks [begin, end), in units of the largest key before `end`.
void sum_keys(const FeatureProblem& problem, const FeatureLane& lane, const FeatureInputs& inputs,
              Index begin, Index end, CarriedSums sums) {
  ChunkFeatures features(problem);
  sums.clear();
  for (Index c = begin; c < end; ++c) {
    Chunk chunk = lane.chunk(c);
    if (chunk.keys == 0) continue;
    chunk.queries = chunk.lead = 0;
    if (inputs.tops) sums.refer(inputs.top(problem, lane.index, c));
    features.load(lane, chunk, inputs.q, inputs.k, inputs.top(problem, lane.index, c),
                  sums.totals());
    for (Index p = 0; p < features.parts(); ++p) {
      features.enter(p);
      if (inputs.tops) sums.refer(features.reference(p));
      absorb_keys(problem.precision, features, lane.keys(inputs.v, chunk.key, chunk.keys), sums);
    }
  }
  if (inputs.tops) sums.refer(inputs.top(problem, lane.index, end));
}

}  // namespace

SpanSums sum_keys_before(const FeatureProblem& problem, const FeatureSpans& spans,
                         const FeatureInputs& inputs) {
  SpanSums sums(problem, spans);
  const Index count = spans.count();
  core::parallel_for(problem.lanes() * count, 1, [&](Index task, Index) {
    const FeatureLane lane(problem, task / count);
    const Index span = task % count;
    if (span == 0)
      sums.at(lane.index, 0).clear();
    else
      sum_keys(problem, lane, inputs, spans.begin(span - 1), spans.end(span - 1),
               sums.at(lane.index, span));
  });
  if (count > 2)
    core::parallel_for(problem.lanes(), 1, [&](Index lane, Index) {
      for (Index span = 2; span < count; ++span) {
        Tensor scratch({CarriedSums::size(problem.map->features(), problem.head_width)});
        CarriedSums earlier(scratch.write().data(), problem.map->features(), problem.head_width);
        earlier.copy(sums.at(lane, span - 1));
        CarriedSums here = sums.at(lane, span);
        if (inputs.tops) earlier.refer(here.reference());
        here.add(earlier);
      }
    });
  return sums;
}

Index end_of_queries(const FeatureLane& lane, Index begin, Index end) {
  while (end > begin && lane.chunk(end - 1).queries == 0) --end;
  return end;
}

Index begin_of_keys(const FeatureLane& lane, Index begin, Index end) {
  while (begin < end && lane.chunk(begin).keys == 0) ++begin;
  return begin;
}

}  // namespace weft::layers
