#include "core/parallel.h"
#include "layers/attention/features/kernel.h"
#include "layers/attention/features/key_sums.h"

namespace weft::layers {
namespace {

/// One span of a lane, in order.
class ForwardSweep {
 public:
  ForwardSweep(const FeatureProblem& problem, const FeatureLane& lane, const FeatureInputs& inputs,
               CarriedSums carried, Heads out, Real* denominators)
      : problem_(problem),
        lane_(lane),
        inputs_(inputs),
        carried_(carried),
        out_(out),
        denominators_(denominators),
        features_(problem),
        scratch_({problem.rows(), problem.rows() + problem.head_width}) {}

  void run(Index begin, Index end) {
    end = end_of_queries(lane_, begin, end);
    for (Index c = begin; c < end; ++c) {
      chunk_ = lane_.chunk(c);
      const Real* top = inputs_.top(problem_, lane_.index, c);
      if (top) carried_.refer(top);
      features_.load(lane_, chunk_, inputs_.q, inputs_.k, top, carried_.totals());
      for (Index p = 0; p < features_.parts(); ++p) {
        features_.enter(p);
        if (top) carried_.refer(features_.reference(p));
        attend(features_.part(p));
        if (c + 1 < end || p + 1 < features_.parts())
          absorb_keys(problem_.precision, features_, values(), carried_);
      }
    }
  }

 private:
  core::ConstMatrix values() const { return lane_.keys(inputs_.v, chunk_.key, chunk_.keys); }

  void attend(const PlaceRange& part) {
    if (chunk_.queries == 0) return;
    const Index keys = chunk_.keys, width = problem_.head_width;
    Real* scratch = scratch_.write().data();
    const core::Matrix scores{scratch, chunk_.queries, keys, keys};
    const core::Matrix sums{scratch + problem_.rows() * problem_.rows(), chunk_.queries, width,
                            width};
    core::gemm(problem_.precision, 1, features_.q, carried_.sums(), 0, sums);
    if (keys > 0) {
      core::gemm(problem_.precision, 1, features_.q, core::transposed(features_.k), 0, scores);
      for (Index r = 0; r < chunk_.queries; ++r)
        std::fill(scores.data + r * keys + chunk_.readable(r), scores.data + (r + 1) * keys,
                  Real(0));
      core::gemm(problem_.precision, 1, scores, values(), 1, sums);
    }
    const core::Matrix out = lane_.queries(out_, chunk_.query, chunk_.queries);
    for (Index r = 0; r < chunk_.queries; ++r)
      if (part.holds(r + chunk_.lead))
        finish_row(r, scores.data + r * keys, sums.data + r * width, out.data + r * out.stride);
  }

  void finish_row(Index r, const Real* scores, const Real* sums, Real* out) {
    Real inverse = 1;
    if (denominators_) {
      const Real total = core::simd().dot(features_.q.data + r * features_.q.stride,
                                          carried_.totals(), features_.q.cols) +
                         core::simd().sum(scores, chunk_.readable(r));
      const Real denominator = total + problem_.eps;
      denominators_[chunk_.query + r] = denominator;
      inverse = denominator != 0 ? 1 / denominator : 0;
    }
    for (Index d = 0; d < problem_.head_width; ++d) out[d] = inverse * sums[d];
  }

  const FeatureProblem& problem_;
  const FeatureLane& lane_;
  const FeatureInputs& inputs_;
  CarriedSums carried_;
  Heads out_;
  Real* denominators_;
  ChunkFeatures features_;
  Tensor scratch_;
  Chunk chunk_{};
};

}  // namespace

void feature_forward(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                     Heads out, FeatureTrace& trace) {
  const Sequences& s = problem.sequences;
  const bool divides = problem.map->form() != FeatureForm::shares;
  if (divides) trace.denominators = Tensor({s.batch, problem.heads, s.queries}, 0);
  Real* denominators = divides ? trace.denominators.write().data() : nullptr;
  trace.tops = find_tops(problem, k, trace.before);
  const FeatureInputs inputs{q, k, v, trace.tops.size() > 0 ? trace.tops.data() : nullptr};
  const FeatureSpans spans(problem);
  const SpanSums before = sum_keys_before(problem, spans, inputs, trace.before);
  core::parallel_for(problem.lanes() * spans.count(), 1, [&](Index task, Index) {
    const FeatureLane lane(problem, task / spans.count());
    const Index span = task % spans.count();
    if (span == 0) {
      const core::Matrix idle = lane.queries(out, 0, lane.idle_queries());
      for (Index r = 0; r < idle.rows; ++r)
        std::fill_n(idle.data + r * idle.stride, idle.cols, Real(0));
    }
    ForwardSweep(problem, lane, inputs, before.at(lane.index, span), out,
                 divides ? denominators + lane.index * s.queries : nullptr)
        .run(spans.begin(span), spans.end(span));
  });
}

}  // namespace weft::layers
