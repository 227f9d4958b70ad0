#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

/// Columns in blocks, each a softmax; in a hard gate each block has one live unit.
struct Gate {
  Index width, block;
  bool inside;
  std::shared_ptr<const LiveUnits> live;

  /// The gate's value for one row: the softmax p itself, or 1 for live units and 0 for others.
  void open(Index row, const Real* p, Real* q) const {
    std::copy_n(p, width, q);
    if (!live) return;
    std::fill_n(q, width, Real(0));
    const Index blocks = width / block;
    for (Index b = 0; b < blocks; ++b) q[b * block + (*live)[std::size_t(row * blocks + b)]] = 1;
  }

  /// Turns a row of logits into probabilities.
  void normalise(Real* p) const {
    for (Index b = 0; b < width; b += block) {
      const Real top = core::simd().max(p + b, block);
      core::simd().scale(1 / core::simd().exp_sum(p + b, 1, top, block), p + b, block);
    }
  }

  /// Row by row: d becomes dh, and dlogits is written.
  void pull_back(const Real* h, const Real* p, const Real* q, Real* d, Real* dlogits) const {
    for (Index i = 0; i < width; ++i) {
      const bool passes = inside ? h[i] * q[i] > 0 : h[i] > 0;
      const Real through = passes ? d[i] : 0;
      d[i] = through * q[i];
      dlogits[i] = through * h[i];
    }
    for (Index b = 0; b < width; b += block) {
      const Real mean = core::simd().dot(p + b, dlogits + b, block);
      for (Index i = b; i < b + block; ++i) dlogits[i] = p[i] * (dlogits[i] - mean);
    }
  }
};

}  // namespace

/// y = relu(h q) or relu(h) q, with q = p = softmax of the logits in blocks or, when hard, one-hot.
/// With a = dy where the relu passes (inside: h q > 0, outside: h > 0), else 0:
/// dh = a q, dq = a h, and straight through a hard gate dlogits = p (dq - sum over the block p dq).
/// Inside a hard gate, then, only live units with h > 0 teach the logits; outside, dead ones too.
/// Saves: h, p and the live units.
Var block_gate(const Var& h, const Var& logits, Index block,
               const std::shared_ptr<const LiveUnits>& live, bool inside) {
  core::require(h.shape() == logits.shape() && h.shape().rank() >= 1 && block >= 1 &&
                    h.shape().back() % block == 0,
                "block_gate: h ", h.shape(), " and logits ", logits.shape(), " in blocks of ",
                block);
  const Gate gate{h.shape().back(), block, inside, live};
  const Index n = gate.width, rows = h.shape().rows();
  core::require(!live || Index(live->size()) == rows * (n / block),
                "block_gate: ", live ? live->size() : 0, " live units for ", rows, " rows of ",
                n / block, " blocks");
  Tensor y(h.shape()), p(h.shape());
  Real *to = y.write().data(), *share = p.write().data();
  const Real *from = h.value().data(), *given = logits.value().data();
  core::parallel_for(rows, core::rows_per_piece(n), [=, &gate](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      Real *own = share + r * n, *out = to + r * n;
      std::copy_n(given + r * n, n, own);
      gate.normalise(own);
      gate.open(r, own, out);
      for (Index i = 0; i < n; ++i) out[i] = std::max(from[r * n + i], Real(0)) * out[i];
    }
  });
  return record("block_gate", std::move(y), {h, logits},
                [gate, saved = h.value(), p = std::move(p), rows, n](Tensor dy) {
                  Tensor dlogits(dy.shape());
                  Real *d = dy.write().data(), *dl = dlogits.write().data();
                  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
                    Tensor open({n});
                    Real* q = open.write().data();
                    for (Index r = begin; r < end; ++r) {
                      gate.open(r, p.data() + r * n, q);
                      gate.pull_back(saved.data() + r * n, p.data() + r * n, q, d + r * n,
                                     dl + r * n);
                    }
                  });
                  return Gradients{std::move(dy), std::move(dlogits)};
                });
}

}  // namespace weft::autograd
