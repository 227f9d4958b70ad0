#include "core/parallel.h"
#include "layers/attention/features/kernel.h"
#include "layers/attention/features/key_gradients.h"

namespace weft::layers {
namespace {

void zero(const core::Matrix& m) {
  for (Index r = 0; r < m.rows; ++r) std::fill_n(m.data + r * m.stride, m.cols, Real(0));
}

}  // namespace

void feature_backward(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                      ConstHeads out, const FeatureTrace& trace, ConstHeads dout, Heads dq,
                      Heads dk, Heads dv) {
  const FeatureGradientInputs in{
      {q, k, v, trace.tops.size() > 0 ? trace.tops.data() : nullptr},
      out,
      dout,
      trace.denominators.size() > 0 ? trace.denominators.data() : nullptr};
  const FeatureSpans spans(problem);
  const ShareTrace shares(problem);
  const auto for_each_span = [&](const auto& body) {
    core::parallel_for(problem.lanes() * spans.count(), 1, [&](Index task, Index) {
      const FeatureLane lane(problem, task / spans.count());
      body(lane, task % spans.count());
    });
  };
  const SpanSums before = sum_keys_before(problem, spans, in.inputs, trace.before);
  for_each_span([&](const FeatureLane& lane, Index span) {
    if (span == 0) zero(lane.queries(dq, 0, lane.idle_queries()));
    sweep_query_gradients(problem, lane, in, before.at(lane.index, span), spans.begin(span),
                          spans.end(span), shares, dq);
  });
  const SpanSums after = sum_queries_after(problem, spans, in, shares, trace.after);
  for_each_span([&](const FeatureLane& lane, Index span) {
    const Index real = lane.real_keys, padding = problem.sequences.keys - real;
    if (span == 0) zero(lane.keys(dk, real, padding));
    if (span == 0) zero(lane.keys(dv, real, padding));
    sweep_key_gradients(problem, lane, in, after.at(lane.index, span), spans.begin(span),
                        spans.end(span), shares, dk, dv);
  });
}

}  // namespace weft::layers
