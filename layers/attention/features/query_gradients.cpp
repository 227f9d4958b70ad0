#include "layers/attention/features/query_gradients.h"

#include "core/arrays/scratch.h"

// Letters: q_i, k_j features [P] of queries and keys, v_j values [D]; S = sum_j k_j v_j^T [P, D]
// and z = sum_j k_j [P] over all keys before the chunk. Forward:
//   num_i = q_i S + sum_j (q_i . k_j) v_j,  den_i = q_i . z + sum_j q_i . k_j + eps,
//   out_i = num_i / den_i,  the sums over the keys of its own chunk that the query reads.
// With g_i = dout_i / den_i and h_i = -(dout_i . out_i) / den_i:
//   dnum_i = g_i,  dden_i = h_i,  d(q_i . k_j) = g_i . v_j + h_i.
namespace weft::layers {

ShareTrace::ShareTrace(const FeatureProblem& problem)
    : queries_(problem.sequences.queries),
      chunks_(problem.chunks()),
      features_(problem.map->features()) {
  if (problem.map->form() != FeatureForm::shares) return;
  totals_ = Tensor({problem.lanes(), chunks_, features_});
  gradients_ = Tensor({problem.lanes(), queries_, features_});
  totals_data_ = totals_.write().data();
  gradients_data_ = gradients_.write().data();
}

Real* ShareTrace::totals(Index lane, Index chunk) const {
  return totals_data_ ? totals_data_ + (lane * chunks_ + chunk) * features_ : nullptr;
}

Real* ShareTrace::divisor_gradients(Index lane) const {
  return gradients_data_ ? gradients_data_ + lane * queries_ * features_ : nullptr;
}

void scale_upstream(const FeatureProblem& problem, const FeatureLane& lane, const Chunk& chunk,
                    const PlaceRange& part, const FeatureGradientInputs& in, const core::Matrix& g,
                    Real* h) {
  const auto dout = lane.queries(in.dout, chunk.query, chunk.queries);
  const Real* denominators =
      in.denominators ? in.denominators + lane.index * problem.sequences.queries : nullptr;
  for (Index r = 0; r < chunk.queries; ++r) {
    const Real* from = dout.data + r * dout.stride;
    Real* to = g.data + r * g.stride;
    h[r] = 0;
    if (!part.holds(r + chunk.lead)) {
      std::fill_n(to, g.cols, Real(0));
    } else if (!denominators) {
      std::copy_n(from, g.cols, to);
    } else {
      const auto out = lane.queries(in.out, chunk.query + r, 1);
      const Real denominator = denominators[chunk.query + r];
      const Real inverse = denominator != 0 ? 1 / denominator : 0;
      for (Index d = 0; d < g.cols; ++d) to[d] = inverse * from[d];
      h[r] = -core::simd().dot(to, out.data, g.cols);
    }
  }
}

/// W[i, j] = g_i . v_j + h_i for the keys that query i reads, else 0.
void weight_gradients(core::Precision precision, const Chunk& chunk, const core::Matrix& g,
                      const Real* h, const core::ConstMatrix& v, const core::Matrix& to) {
  core::gemm(precision, 1, g, core::transposed(v), 0, to);
  for (Index r = 0; r < chunk.queries; ++r) {
    Real* row = to.data + r * to.stride;
    const Index readable = chunk.readable(r);
    for (Index j = 0; j < readable; ++j) row[j] += h[r];
    std::fill(row + readable, row + chunk.keys, Real(0));
  }
}

namespace {

/// One span of a lane, first chunk first: builds S and z again and gives dq.
class QuerySweep {
 public:
  QuerySweep(const FeatureProblem& problem, const FeatureLane& lane,
             const FeatureGradientInputs& in, CarriedSums carried, const ShareTrace& shares,
             Heads dq)
      : problem_(problem),
        lane_(lane),
        in_(in),
        carried_(carried),
        shares_(shares),
        dq_(dq),
        features_(problem),
        width_(problem.head_width),
        count_(problem.map->features()),
        scratch_((problem.rows()) * (problem.rows() + width_ + 2 * count_ + 1)) {
    const Index rows = problem.rows();
    weights_ = scratch_.take(rows * rows);
    g_ = scratch_.take(rows * width_);
    df_ = scratch_.take(rows * count_);
    mapped_df_ = scratch_.take(rows * count_);
    h_ = scratch_.take(rows);
  }

  void run(Index begin, Index end) {
    end = end_of_queries(lane_, begin, end);
    for (Index c = begin; c < end; ++c) {
      chunk_ = lane_.chunk(c);
      const Real* top = in_.inputs.top(problem_, lane_.index, c);
      if (top) carried_.refer(top);
      if (Real* kept = shares_.totals(lane_.index, c)) std::copy_n(carried_.totals(), count_, kept);
      features_.load(lane_, chunk_, in_.inputs.q, in_.inputs.k, top, carried_.totals());
      for (Index p = 0; p < features_.parts(); ++p) {
        features_.enter(p);
        if (top) carried_.refer(features_.reference(p));
        differentiate(features_.part(p));
        if (c + 1 < end || p + 1 < features_.parts())
          absorb_keys(problem_.precision, features_, values(), carried_);
      }
      if (chunk_.queries == 0) continue;
      const auto x = lane_.queries(in_.inputs.q, chunk_.query, chunk_.queries);
      problem_.map->pull_back_queries(x, features_.mapped_q,
                                      {mapped_df_, chunk_.queries, count_, count_},
                                      lane_.queries(dq_, chunk_.query, chunk_.queries));
    }
  }

 private:
  core::ConstMatrix values() const { return lane_.keys(in_.inputs.v, chunk_.key, chunk_.keys); }

  /// dq_i = S g_i + sum_j W[i, j] k_j + z h_i (h_i = 0 for shares), then back through what made q
  /// of the mapped features.
  void differentiate(const PlaceRange& part) {
    if (chunk_.queries == 0) return;
    const core::Matrix g{g_, chunk_.queries, width_, width_};
    const core::Matrix df{df_, chunk_.queries, count_, count_};
    scale_upstream(problem_, lane_, chunk_, part, in_, g, h_);
    core::gemm(problem_.precision, 1, g, core::transposed(carried_.sums()), 0, df);
    if (chunk_.keys > 0) {
      const core::Matrix weights{weights_, chunk_.queries, chunk_.keys, chunk_.keys};
      weight_gradients(problem_.precision, chunk_, g, h_, values(), weights);
      core::gemm(problem_.precision, 1, weights, features_.k, 1, df);
    }
    for (Index r = 0; r < chunk_.queries; ++r)
      if (part.holds(r + chunk_.lead)) finish_row(r, df_ + r * count_, mapped_df_ + r * count_);
  }

  /// df: dq of one row without its term z h. mapped: the gradient of what the map gave, f:
  ///   weights     q = f, so df itself;
  ///   logarithms  q = e^f times what does not depend on f, so df q;
  ///   shares      q = f / divisor, so df / divisor, and d(divisor) = -df f / divisor^2.
  void finish_row(Index r, Real* df, Real* mapped) {
    const Real* q = features_.q.data + r * count_;
    if (in_.denominators) core::simd().axpy(h_[r], carried_.totals(), df, count_);
    switch (problem_.map->form()) {
      case FeatureForm::weights:
        std::copy_n(df, count_, mapped);
        break;
      case FeatureForm::logarithms:
        for (Index c = 0; c < count_; ++c) mapped[c] = df[c] * q[c];
        break;
      case FeatureForm::shares: {
        const Real* divisor = features_.divisors.data + r * count_;
        Real* back = shares_.divisor_gradients(lane_.index) + (chunk_.query + r) * count_;
        for (Index c = 0; c < count_; ++c) {
          mapped[c] = divisor[c] > 0 ? df[c] / divisor[c] : 0;
          back[c] = -mapped[c] * q[c];
        }
        break;
      }
    }
  }

  const FeatureProblem& problem_;
  const FeatureLane& lane_;
  const FeatureGradientInputs& in_;
  CarriedSums carried_;
  const ShareTrace& shares_;
  Heads dq_;
  ChunkFeatures features_;
  const Index width_, count_;
  core::Scratch scratch_;
  Real *weights_, *g_, *df_, *mapped_df_, *h_;
  Chunk chunk_{};
};

}  // namespace

void sweep_query_gradients(const FeatureProblem& problem, const FeatureLane& lane,
                           const FeatureGradientInputs& in, CarriedSums before, Index begin,
                           Index end, const ShareTrace& shares, Heads dq) {
  QuerySweep(problem, lane, in, before, shares, dq).run(begin, end);
}

}  // namespace weft::layers
