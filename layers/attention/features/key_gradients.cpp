#include "layers/attention/features/key_gradients.h"

#include "core/arrays/scratch.h"
#include "core/parallel.h"
#include "layers/attention/features/kernel.h"

namespace weft::layers {
namespace {

/// One span of a lane, last chunk first.
class KeySweep {
 public:
  KeySweep(const FeatureProblem& problem, const FeatureLane& lane, const FeatureGradientInputs& in,
           CarriedSums carried, const ShareTrace& shares)
      : problem_(problem),
        lane_(lane),
        in_(in),
        carried_(carried),
        shares_(shares),
        features_(problem),
        width_(problem.head_width),
        count_(problem.map->features()),
        scratch_((problem.rows() + 1) * (2 * problem.rows() + width_ + 2 * count_ + 1)) {
    const Index rows = problem.rows();
    scores_ = scratch_.take(rows * rows);
    weights_ = scratch_.take(rows * rows);
    g_ = scratch_.take(rows * width_);
    df_ = scratch_.take(rows * count_);
    mapped_df_ = scratch_.take(rows * count_);
    h_ = scratch_.take(rows);
    behind_ = scratch_.take(count_);
  }

  /// Adds the queries of the chunks to what is carried.
  void sum(Index begin, Index end) {
    for (Index c = end; c-- > begin;) {
      Chunk chunk = lane_.chunk(c);
      if (chunk.queries == 0) continue;
      if (!in_.inputs.tops) chunk.keys = 0;
      load(c, chunk);
      for (Index p = features_.parts(); p-- > 0;) {
        enter(p);
        absorb_queries();
      }
    }
    if (const Real* top = in_.inputs.top(problem_, lane_.index, begin)) carried_.refer(top);
  }

  void run(Index begin, Index end, Heads dk, Heads dv) {
    begin = begin_of_keys(lane_, begin, end);
    for (Index c = end; c-- > begin;) {
      load(c, lane_.chunk(c));
      for (Index p = features_.parts(); p-- > 0;) {
        enter(p);
        const bool first = p + 1 == features_.parts();
        differentiate(features_.part(p), first ? 0 : 1, lane_.keys(dv, chunk_.key, chunk_.keys));
        if (c > begin || p > 0) absorb_queries();
      }
      if (chunk_.keys == 0) continue;
      const auto x = lane_.keys(in_.inputs.k, chunk_.key, chunk_.keys);
      problem_.map->pull_back_keys(x, features_.mapped_k, {mapped_df_, chunk_.keys, count_, count_},
                                   lane_.keys(dk, chunk_.key, chunk_.keys));
    }
  }

 private:
  core::Matrix upstream() const { return {g_, chunk_.queries, width_, width_}; }
  core::ConstMatrix values() const { return lane_.keys(in_.inputs.v, chunk_.key, chunk_.keys); }
  const Real* divisor_gradients(Index r) const {
    return shares_.divisor_gradients(lane_.index) + (chunk_.query + r) * count_;
  }
  bool by_shares() const { return problem_.map->form() == FeatureForm::shares; }

  void load(Index c, const Chunk& chunk) {
    chunk_ = chunk;
    features_.load(lane_, chunk_, in_.inputs.q, in_.inputs.k,
                   in_.inputs.top(problem_, lane_.index, c), shares_.totals(lane_.index, c));
  }

  void enter(Index p) {
    features_.enter(p);
    if (in_.inputs.tops) carried_.refer(features_.reference(p));
    part_ = features_.part(p);
    scale_upstream(problem_, lane_, chunk_, part_, in_, upstream(), h_);
  }

  /// sums += q^T g, totals += q^T h, or for shares the gradients of the divisors.
  void absorb_queries() {
    if (chunk_.queries == 0) return;
    core::gemm(problem_.precision, 1, core::transposed(features_.q), upstream(), 1,
               carried_.sums());
    for (Index r = 0; r < chunk_.queries; ++r) {
      if (!part_.holds(r + chunk_.lead)) continue;
      if (by_shares())
        core::simd().add(divisor_gradients(r), carried_.totals(), carried_.totals(), count_);
      else
        core::simd().axpy(h_[r], features_.q.data + r * count_, carried_.totals(), count_);
    }
  }

  /// d(k_j) = U v_j + u, dv_j = U^T k_j, both with the queries of its own chunk.
  void differentiate(const PlaceRange& part, Real beta, const core::Matrix& dv) {
    if (chunk_.keys == 0) return;
    const core::Matrix df{df_, chunk_.keys, count_, count_};
    core::gemm(problem_.precision, 1, values(), core::transposed(carried_.sums()), 0, df);
    core::gemm(problem_.precision, 1, features_.k, carried_.sums(), beta, dv);
    if (chunk_.queries > 0) {
      const core::Matrix scores{scores_, chunk_.queries, chunk_.keys, chunk_.keys};
      const core::Matrix weights{weights_, chunk_.queries, chunk_.keys, chunk_.keys};
      core::gemm(problem_.precision, 1, features_.q, core::transposed(features_.k), 0, scores);
      for (Index r = 0; r < chunk_.queries; ++r)
        std::fill(scores.data + r * chunk_.keys + chunk_.readable(r),
                  scores.data + (r + 1) * chunk_.keys, Real(0));
      weight_gradients(problem_.precision, chunk_, upstream(), h_, values(), weights);
      core::gemm(problem_.precision, 1, core::transposed(scores), upstream(), 1, dv);
      core::gemm(problem_.precision, 1, core::transposed(weights), features_.q, 1, df);
    }
    finish_rows(part);
  }

  /// Adds the totals, and back through what made k of the mapped features.
  void finish_rows(const PlaceRange& part) {
    std::copy_n(carried_.totals(), count_, behind_);
    for (Index place = std::min(part.last, chunk_.places()); place-- > part.first;) {
      const Index r = place - chunk_.lead;
      if (by_shares() && r >= 0 && r < chunk_.queries)
        core::simd().add(divisor_gradients(r), behind_, behind_, count_);
      if (place >= chunk_.keys) continue;
      Real *df = df_ + place * count_, *mapped = mapped_df_ + place * count_;
      core::simd().add(behind_, df, mapped, count_);
      if (!in_.inputs.tops) continue;
      const Real* k = features_.k.data + place * count_;
      for (Index c = 0; c < count_; ++c) mapped[c] *= k[c];
    }
  }

  const FeatureProblem& problem_;
  const FeatureLane& lane_;
  const FeatureGradientInputs& in_;
  CarriedSums carried_;
  const ShareTrace& shares_;
  ChunkFeatures features_;
  const Index width_, count_;
  core::Scratch scratch_;
  Real *scores_, *weights_, *g_, *df_, *mapped_df_, *h_, *behind_;
  Chunk chunk_{};
  PlaceRange part_{};
};

}  // namespace

SpanSums sum_queries_after(const FeatureProblem& problem, const FeatureSpans& spans,
                           const FeatureGradientInputs& in, const ShareTrace& shares,
                           const Tensor& after) {
  SpanSums sums(problem, spans);
  const Index count = spans.count();
  core::parallel_for(problem.lanes() * count, 1, [&](Index task, Index) {
    const FeatureLane lane(problem, task / count);
    const Index span = task % count;
    CarriedSums own = sums.at(lane.index, span);
    own.clear();
    if (span + 1 == count)
      sums.start(lane.index, span, after);
    else
      KeySweep(problem, lane, in, own, shares).sum(spans.begin(span + 1), spans.end(span + 1));
  });
  const Index last = after.size() > 0 ? count - 1 : count - 2;  // the first with sums to hand on
  if (last > 0)
    core::parallel_for(problem.lanes(), 1, [&](Index lane, Index) {
      Tensor scratch({CarriedSums::size(problem.map->features(), problem.head_width)});
      CarriedSums later(scratch.write().data(), problem.map->features(), problem.head_width);
      for (Index span = last; span-- > 0;) {
        later.copy(sums.at(lane, span + 1));
        CarriedSums here = sums.at(lane, span);
        if (in.inputs.tops) later.refer(here.reference());
        here.add(later);
      }
    });
  return sums;
}

Tensor query_sums(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                  ConstHeads out, const FeatureTrace& trace, ConstHeads dout) {
  const Real* tops = trace.tops.size() > 0 ? trace.tops.data() : nullptr;
  const FeatureGradientInputs in{{q, k, v, tops}, out, dout, trace.denominators.data()};
  const FeatureSpans spans(problem);
  const ShareTrace shares(problem);
  return sum_spans(problem, 0, [&](const FeatureLane& lane, Index span, CarriedSums sums) {
    sums.clear();
    KeySweep(problem, lane, in, sums, shares).sum(spans.begin(span), spans.end(span));
  });
}

void sweep_key_gradients(const FeatureProblem& problem, const FeatureLane& lane,
                         const FeatureGradientInputs& in, CarriedSums after, Index begin, Index end,
                         const ShareTrace& shares, Heads dk, Heads dv) {
  KeySweep(problem, lane, in, after, shares).run(begin, end, dk, dv);
}

}  // namespace weft::layers
