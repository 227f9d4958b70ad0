#include "layers/attention/features/key_sums.h"

#include "core/parallel.h"
#include "layers/attention/features/kernel.h"

namespace weft::layers {

Tensor find_tops(const FeatureProblem& problem, ConstHeads k, const Tensor& before) {
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
    if (before.size() > 0) {
      const Index numbers = CarriedSums::size(features, problem.head_width);
      std::copy_n(before.data() + (lane + 1) * numbers - features, features, row);
    }
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

Tensor key_sums(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v) {
  const Tensor tops = find_tops(problem, k, {});
  const FeatureInputs inputs{q, k, v, tops.size() > 0 ? tops.data() : nullptr};
  const FeatureSpans spans(problem);
  const Index last = spans.count() - 1;
  return sum_spans(problem, last, [&](const FeatureLane& lane, Index span, CarriedSums sums) {
    sum_keys(problem, lane, inputs, spans.begin(span), spans.end(span), sums);
  });
}

Tensor sum_spans(
    const FeatureProblem& problem, Index chosen,
    const std::function<void(const FeatureLane& lane, Index span, CarriedSums sums)>& sum) {
  const FeatureSpans spans(problem);
  const SpanSums of_spans(problem, spans);
  core::parallel_for(problem.lanes() * spans.count(), 1, [&](Index task, Index) {
    const FeatureLane lane(problem, task / spans.count());
    sum(lane, task % spans.count(), of_spans.at(lane.index, task % spans.count()));
  });
  const Index features = problem.map->features(), width = problem.head_width;
  const Index numbers = CarriedSums::size(features, width);
  Tensor all({problem.sequences.batch, problem.heads, numbers});
  Real* to = all.write().data();
  for (Index lane = 0; lane < problem.lanes(); ++lane) {
    CarriedSums whole(to + lane * numbers, features, width);
    whole.copy(of_spans.at(lane, chosen));
    for (Index span = 0; span < spans.count(); ++span) {
      if (span == chosen) continue;
      CarriedSums other = of_spans.at(lane, span);
      other.refer(whole.reference());
      whole.add(other);
    }
  }
  return all;
}

SpanSums sum_keys_before(const FeatureProblem& problem, const FeatureSpans& spans,
                         const FeatureInputs& inputs, const Tensor& before) {
  SpanSums sums(problem, spans);
  const Index count = spans.count();
  core::parallel_for(problem.lanes() * count, 1, [&](Index task, Index) {
    const FeatureLane lane(problem, task / count);
    const Index span = task % count;
    if (span == 0)
      sums.start(lane.index, 0, before);
    else
      sum_keys(problem, lane, inputs, spans.begin(span - 1), spans.end(span - 1),
               sums.at(lane.index, span));
  });
  const Index first = before.size() > 0 ? 1 : 2;  // without any, nothing is before span 0
  if (count > first)
    core::parallel_for(problem.lanes(), 1, [&](Index lane, Index) {
      for (Index span = first; span < count; ++span) {
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
