#pragma once

#include "layers/attention/features/query_gradients.h"

namespace weft::layers {

/// For each lane and span the sums U and u of all queries after it; `after`: of those after this
/// call.
SpanSums sum_queries_after(const FeatureProblem& problem, const FeatureSpans& spans,
                           const FeatureGradientInputs& in, const ShareTrace& shares,
                           const Tensor& after);

/// dk and dv of chunks [begin, end) of a lane, last chunk first, from the sums of all queries
/// after them.
void sweep_key_gradients(const FeatureProblem& problem, const FeatureLane& lane,
                         const FeatureGradientInputs& in, CarriedSums after, Index begin, Index end,
                         const ShareTrace& shares, Heads dk, Heads dv);

}  // namespace weft::layers
