#include "layers/attention/chosen/index_loss.h"

#include <algorithm>
#include <cmath>

#include "core/arrays/gemm.h"
#include "core/arrays/scratch.h"
#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

constexpr Index queries_per_task = 32;

/// The terms of the loss at one query: n rows that it reads.
class IndexRow {
 public:
  IndexRow(const IndexLoss& loss, const IndexRows& rows)
      : loss_(loss),
        rows_(rows),
        memory_(loss.problem.most *
                (loss.problem.head_width + loss.problem.group() + loss.index.heads + 3)) {
    const Index most = loss.problem.most;
    panel_ = memory_.take(most * loss.problem.head_width);
    weights_ = memory_.take(most * loss.problem.group());
    products = memory_.take(most * loss.index.heads);
    for (Real** row : {&target, &share, &scores_}) *row = memory_.take(most);
  }

  /// Makes target and share; false where the query reads nothing.
  bool fill(Index b, Index query) {
    read.clear();
    loss_.problem.read(b, query, read);
    token = b * loss_.problem.sequences.queries + query;
    first_key = b * (rows_.k.shape()[0] / loss_.problem.sequences.batch);
    if (read.empty()) return false;
    fill_target(b, query);
    fill_share();
    return true;
  }
  /// sum_j p_j (ln p_j - ln s_j)
  double divergence() const {
    double sum = 0;
    for (Index j = 0; j < count(); ++j)
      if (target[j] > 0)
        sum += double(target[j]) * (std::log(double(target[j])) - double(scores_[j]) + log_sum_);
    return sum;
  }

  Index count() const { return Index(read.size()); }
  const Real* query(Index i) const {
    return rows_.q[std::size_t(i)].value().data() + token * loss_.index.width;
  }
  const Real* key(Index j) const {
    return rows_.k.value().data() + (first_key + read[std::size_t(j)]) * loss_.index.width;
  }
  Real weight(Index i) const { return rows_.w.value().data()[token * loss_.index.heads + i]; }

  std::vector<std::int32_t> read;
  Index token = 0, first_key = 0;
  Real *target, *share;
  Real* products;  ///< max(0, scale q_i . k_j), [I, n]

 private:
  void fill_target(Index b, Index query) {
    const GatheredProblem& p = loss_.problem;
    const Index width = p.head_width, n = p.sequences.queries;
    const ConstHeads q = heads_of(loss_.q), k = heads_of(loss_.k);
    std::fill_n(target, count(), Real(0));
    for (Index g = 0; g < p.key_heads; ++g) {
      gather_rows(k, b * p.sequences.keys, g * width, read, width, panel_);
      const core::ConstMatrix heads{q.data + token * q.stride + g * p.group() * width, p.group(),
                                    width, width};
      const core::Matrix scores{weights_, p.group(), count(), count()};
      core::gemm(p.scale, heads, core::transposed(core::ConstMatrix{panel_, count(), width, width}),
                 0, scores);
      for (Index h = 0; h < p.group(); ++h) {
        const Index head = g * p.group() + h;
        core::simd().exp_sum(scores.row(h), 1,
                             loss_.log_sums.data()[(b * p.heads + head) * n + query], count());
        core::simd().add(scores.row(h), target, target, count());
      }
    }
    const Real total = core::simd().sum(target, count());
    core::simd().scale(total > 0 ? 1 / total : 0, target, count());
  }

  void fill_share() {
    std::fill_n(scores_, count(), Real(0));
    for (Index i = 0; i < loss_.index.heads; ++i) {
      Real* own = products + i * count();
      for (Index j = 0; j < count(); ++j)
        own[j] = std::max(
            Real(0), loss_.index.scale * core::simd().dot(query(i), key(j), loss_.index.width));
      core::simd().axpy(weight(i), own, scores_, count());
    }
    const Real top = core::simd().max(scores_, count());
    std::copy_n(scores_, count(), share);
    const Real total = core::simd().exp_sum(share, 1, top, count());
    core::simd().scale(1 / total, share, count());
    log_sum_ = double(top) + std::log(double(total));
  }

  const IndexLoss& loss_;
  const IndexRows& rows_;
  core::Scratch memory_;
  Real *panel_, *weights_, *scores_;
  double log_sum_ = 0;
};

/// dI_j = factor (s_j - p_j), and from it dw_i = sum_j dI_j z_ij and, where z_ij > 0,
/// dq_i += dI_j w_i scale k_j and dk_j += dI_j w_i scale q_i.
void pull_back_query(const TokenIndex& index, IndexRow& row, Real factor,
                     const std::vector<Real*>& dq, Real* dk, Real* dw) {
  for (Index j = 0; j < row.count(); ++j) row.share[j] = factor * (row.share[j] - row.target[j]);
  for (Index i = 0; i < index.heads; ++i) {
    const Real* z = row.products + i * row.count();
    dw[row.token * index.heads + i] = core::simd().dot(row.share, z, row.count());
    Real* to = dq[std::size_t(i)] + row.token * index.width;
    for (Index j = 0; j < row.count(); ++j) {
      if (z[j] <= 0) continue;
      const Real d = row.share[j] * row.weight(i) * index.scale;
      core::simd().axpy(d, row.key(j), to, index.width);
      core::simd().axpy(d, row.query(i),
                        dk + (row.first_key + row.read[std::size_t(j)]) * index.width, index.width);
    }
  }
}

}  // namespace

/// Saves: the rows of the index; weights are made again.
Var IndexLoss::of(const IndexRows& rows) const {
  const Index batch = problem.sequences.batch, length = problem.sequences.queries;
  std::vector<double> each(std::size_t(batch * length), 0.0);
  core::parallel_for(batch * length, queries_per_task, [&](Index begin, Index end) {
    IndexRow row(*this, rows);
    Index pairs = 0;
    for (Index t = begin; t < end; ++t)
      if (row.fill(t / length, t % length)) {
        each[std::size_t(t)] = row.divergence();
        pairs += row.count();
      }
    core::counters().flops.fetch_add(PackedRows::flops(index.heads * index.width, pairs),
                                     std::memory_order_relaxed);
  });
  double total = 0;
  for (const double part : each) total += part;
  const double share = weight / double(std::max<Index>(1, queries));
  std::vector<Var> sources = rows.q;
  sources.insert(sources.end(), {rows.k, rows.w});
  return autograd::record("index_loss", Tensor({1}, Real(share * total)), sources,
                          [loss = *this, rows, sources, share, batch, length](Tensor dy) {
                            autograd::Gradients d;
                            std::vector<Real*> to;
                            for (const Var& x : sources) d.emplace_back(x.shape(), Real(0));
                            for (Tensor& gradient : d) to.push_back(gradient.write().data());
                            Real *dw = to[to.size() - 1], *dk = to[to.size() - 2];
                            const Real factor = Real(share * double(core::scalar(dy)));
                            core::parallel_for(batch, 1, [&](Index b, Index) {
                              IndexRow row(loss, rows);
                              Index pairs = 0;
                              for (Index t = 0; t < length; ++t) {
                                if (!row.fill(b, t)) continue;
                                pull_back_query(loss.index, row, factor, to, dk, dw);
                                pairs += row.count();
                              }
                              core::counters().flops.fetch_add(
                                  3 * PackedRows::flops(loss.index.heads * loss.index.width, pairs),
                                  std::memory_order_relaxed);
                            });
                            return d;
                          });
}

Cost IndexLoss::cost(Index pairs) const {
  const Index targets = 2 * pairs * problem.heads * problem.head_width;
  const Index scores = PackedRows::flops(index.heads * index.width, pairs);
  return {.flops = targets + scores, .backward_flops = targets + 3 * scores};
}

}  // namespace weft::layers
