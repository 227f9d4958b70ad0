#include "layers/parts/memory/product_memory.h"

#include <algorithm>
#include <utility>

#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// Where the two halves of a head's query and of a slot's key are.
struct Layout {
  const MemoryTables& tables;

  Index query(Index row, Index head, Index side) const {
    return ((row * tables.heads() + head) * 2 + side) * tables.half();
  }
  Index key(Index head, Index side, std::int32_t slot) const {
    const Index number = side == 0 ? slot / tables.side() : slot % tables.side();
    return ((head * 2 + side) * tables.side() + number) * tables.half();
  }
};

/// Softmax over each head's scores at its slots.  -> [N, H, top]
Tensor weigh_slots(const Tensor& queries, const Slots& slots, const MemoryTables& t) {
  const Index rows = queries.shape().rows(), H = t.heads(), k = t.top, half = t.half();
  const Layout at{t};
  Tensor weights({rows, H, k});
  Real* to = weights.write().data();
  core::parallel_for(rows * H, core::rows_per_piece(k * half), [&](Index begin, Index end) {
    for (Index rh = begin; rh < end; ++rh) {
      const Index row = rh / H, h = rh % H;
      Real* own = to + rh * k;
      for (Index i = 0; i < k; ++i) {
        own[i] = 0;
        for (Index side = 0; side < 2; ++side)
          own[i] += core::simd().dot(
              queries.data() + at.query(row, h, side),
              t.keys.data() + at.key(h, side, slots[std::size_t(rh * k + i)]), half);
      }
      const Real top = core::simd().max(own, k);
      core::simd().scale(1 / core::simd().exp_sum(own, 1, top, k), own, k);
    }
  });
  return weights;
}

/// The gradients of the scores, [N, H, top], and what follows from them for the queries.
struct ScoreGradients {
  Tensor scores, queries;
};

ScoreGradients pull_back_scores(const Tensor& weights, const Slots& slots, const MemoryTables& t,
                                const Tensor& dy) {
  const Index rows = dy.shape().rows(), H = t.heads(), k = t.top, W = t.width(), half = t.half();
  const Layout at{t};
  ScoreGradients g{Tensor(weights.shape()), Tensor({rows, 2 * H * half}, 0)};
  Real *ds = g.scores.write().data(), *dq = g.queries.write().data();
  core::parallel_for(rows * H, core::rows_per_piece(k * W), [&](Index begin, Index end) {
    for (Index rh = begin; rh < end; ++rh) {
      const Index row = rh / H, h = rh % H;
      const Real* p = weights.data() + rh * k;
      Real* own = ds + rh * k;
      const std::int32_t* chosen = slots.data() + rh * k;
      for (Index i = 0; i < k; ++i)
        own[i] = core::simd().dot(dy.data() + row * W, t.values.data() + chosen[i] * W, W);
      const Real mean = core::simd().dot(p, own, k);
      for (Index i = 0; i < k; ++i) {
        own[i] = k == 1 ? 0 : p[i] * (own[i] - mean);
        for (Index side = 0; side < 2; ++side)
          core::simd().axpy(own[i], t.keys.data() + at.key(h, side, chosen[i]),
                            dq + at.query(row, h, side), half);
      }
    }
  });
  return g;
}

/// dkeys += dscore * query; one task for each half of each head, rows in order.
void teach_keys(const Tensor& queries, const Slots& slots, const MemoryTables& t,
                const Tensor& ds) {
  if (t.keys.gradient().empty()) return;
  const Index rows = queries.shape().rows(), H = t.heads(), k = t.top;
  const Layout at{t};
  Real* to = t.keys.gradient().data();
  core::parallel_for(2 * H, 1, [&](Index part, Index) {
    const Index h = part / 2, side = part % 2;
    for (Index row = 0; row < rows; ++row)
      for (Index i = (row * H + h) * k; i < (row * H + h + 1) * k; ++i)
        core::simd().axpy(ds.data()[i], queries.data() + at.query(row, h, side),
                          to + at.key(h, side, slots[std::size_t(i)]), t.half());
  });
}

/// The reads sorted by slot, and for each slot that was read its first one.
struct ReadsBySlot {
  std::vector<Index> rows;   ///< slots that were read, ascending
  std::vector<Index> begin;  ///< [rows + 1], into reads
  std::vector<Index> reads;  ///< numbers of entries in Slots, ascending for each slot
};

ReadsBySlot sort_reads(const Slots& slots, Index count) {
  std::vector<Index> next(std::size_t(count), 0);
  for (const std::int32_t slot : slots) ++next[std::size_t(slot)];
  ReadsBySlot sorted{{}, {0}, std::vector<Index>(slots.size())};
  for (Index slot = 0; slot < count; ++slot) {
    const Index reads = std::exchange(next[std::size_t(slot)], sorted.begin.back());
    if (reads == 0) continue;
    sorted.rows.push_back(slot);
    sorted.begin.push_back(sorted.begin.back() + reads);
  }
  for (std::size_t i = 0; i < slots.size(); ++i)
    sorted.reads[std::size_t(next[std::size_t(slots[i])]++)] = Index(i);
  return sorted;
}

/// dvalues[slot] += weight dy over the reads of a slot, in order; other rows are not touched.
void teach_values(const Tensor& weights, const Slots& slots, const MemoryTables& t,
                  const Tensor& dy) {
  if (t.values.gradient().empty()) return;
  const ReadsBySlot sorted = sort_reads(slots, t.slots());
  const Index W = t.width(), of_row = t.heads() * t.top;
  Real* to = t.values.gradient().data();
  core::parallel_for(
      Index(sorted.rows.size()), core::rows_per_piece(W), [&](Index begin, Index end) {
        for (Index n = begin; n < end; ++n)
          for (Index i = sorted.begin[std::size_t(n)]; i < sorted.begin[std::size_t(n) + 1]; ++i) {
            const Index read = sorted.reads[std::size_t(i)];
            core::simd().axpy(weights.data()[read], dy.data() + read / of_row * W,
                              to + sorted.rows[std::size_t(n)] * W, W);
          }
      });
  t.values.touch(sorted.rows);
}

}  // namespace

/// y = sum of p v with p = softmax of a head's scores q1 . key1 + q2 . key2 at its slots.
/// dscore = p (dy . v - sum of p dy . v); dq = sum of dscore key, dkey = sum of dscore q,
/// dv = sum of p dy over a slot's reads.  Saves: queries, slots, p.
Var product_memory(const Var& queries, const std::shared_ptr<const Slots>& slots,
                   const MemoryTables& t) {
  const Index rows = queries.shape().rows(), W = t.width(), of_row = t.heads() * t.top;
  core::require(queries.shape().back() == 2 * t.heads() * t.half() &&
                    t.slots() == t.side() * t.side() && Index(slots->size()) == rows * of_row,
                "product_memory: queries ", queries.shape(), " with ", slots->size(),
                " slots do not fit keys ", t.keys.shape(), " and values ", t.values.shape());
  const Tensor weights = weigh_slots(queries.value(), *slots, t);
  Tensor y({rows, W}, 0);
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(of_row * W), [&](Index begin, Index end) {
    for (Index i = begin * of_row; i < end * of_row; ++i)
      core::simd().axpy(weights.data()[i], t.values.data() + (*slots)[std::size_t(i)] * W,
                        to + i / of_row * W, W);
  });
  core::counters().flops.fetch_add(2 * rows * of_row * W, std::memory_order_relaxed);
  if (rows == 1)
    core::counters().weight_bytes.fetch_add(of_row * W * Index(sizeof(Real)),
                                            std::memory_order_relaxed);
  return autograd::record("product_memory", std::move(y), {queries},
                          [saved = queries.value(), weights, slots, t](const Tensor& dy) {
                            const ScoreGradients g = pull_back_scores(weights, *slots, t, dy);
                            teach_keys(saved, *slots, t, g.scores);
                            teach_values(weights, *slots, t, dy);
                            return autograd::Gradients{g.queries};
                          });
}

}  // namespace weft::layers
