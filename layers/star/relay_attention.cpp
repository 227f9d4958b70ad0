#include "layers/star/relay_attention.h"

#include <cmath>

#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// One head of one relay. Its first key is the relay's own, in another matrix than the others.
struct RelayLane {
  RelayLane(const Sequences& s, Index heads, Index width_, Index lane)
      : batch(lane / heads),
        keys(s.real_keys(batch) + 1),
        head_width(width_ / heads),
        width(width_),
        first(batch * s.queries),
        column(lane % heads * head_width) {}

  /// Key j; its value is `width` columns after it.
  template <class Number>
  Number* key(Number* relay, Number* satellites, Index j) const {
    Number* row = j == 0 ? relay + batch * 2 * width : satellites + (first + j - 1) * 2 * width;
    return row + column;
  }
  template <class Number>
  Number* query(Number* x) const {
    return x + batch * width + column;
  }
  Real scale() const { return Real(1 / std::sqrt(double(head_width))); }

  Index batch, keys, head_width, width, first, column;
};

}  // namespace

Cost relay_cost(const Sequences& sequences, Index heads, Index width) {
  Index pairs = 0;
  for (Index b = 0; b < sequences.batch; ++b) pairs += heads * (sequences.real_keys(b) + 1);
  const Index flops = 4 * pairs * (width / heads);
  return {pairs, flops, 2 * flops,
          Index(sizeof(Real)) * sequences.batch * heads * (sequences.queries + 1)};
}

Var relay_attention(const Sequences& sequences, Index heads, const Var& q, const Var& relay,
                    const Var& satellites) {
  const Index batch = sequences.batch, width = q.shape().back(), most = sequences.queries + 1;
  core::require(q.shape() == core::Shape{batch, width} && width % heads == 0 &&
                    relay.shape() == core::Shape{batch, 2 * width} &&
                    satellites.shape() == core::Shape{batch * sequences.queries, 2 * width},
                "relay_attention: queries ", q.shape(), ", relay ", relay.shape(), ", satellites ",
                satellites.shape());
  Tensor y({batch, width}, 0), weights({batch * heads, most}, 0);
  Real *out = y.write().data(), *p = weights.write().data();
  core::parallel_for(batch * heads, 1, [&](Index number, Index) {
    const RelayLane lane(sequences, heads, width, number);
    const Index d = lane.head_width;
    Real* own = p + number * most;
    const Real *k = relay.value().data(), *s = satellites.value().data();
    for (Index j = 0; j < lane.keys; ++j)
      own[j] = core::simd().dot(lane.query(q.value().data()), lane.key(k, s, j), d);
    const Real top = core::simd().max(own, lane.keys) * lane.scale();
    const Real total = core::simd().exp_sum(own, lane.scale(), top, lane.keys);
    core::simd().scale(1 / total, own, lane.keys);
    for (Index j = 0; j < lane.keys; ++j)
      core::simd().axpy(own[j], lane.key(k, s, j) + width, lane.query(out), d);
  });
  const Cost cost = relay_cost(sequences, heads, width);
  core::counters().scored_pairs += cost.scored_pairs;
  core::counters().flops += cost.flops;
  const Tensor saved = y;
  return autograd::record(
      "relay_attention", std::move(y), {q, relay, satellites}, [=](const Tensor& dy) {
        Tensor dq(q.shape(), 0), dr(relay.shape(), 0), ds(satellites.shape(), 0);
        Real *to_q = dq.write().data(), *to_r = dr.write().data(), *to_s = ds.write().data();
        core::parallel_for(batch * heads, 1, [&](Index number, Index) {
          const RelayLane lane(sequences, heads, width, number);
          const Index d = lane.head_width;
          const Real *dout = lane.query(dy.data()), *own = weights.data() + number * most;
          const Real *k = relay.value().data(), *s = satellites.value().data();
          const Real delta = core::simd().dot(dout, lane.query(saved.data()), d);
          for (Index j = 0; j < lane.keys; ++j) {
            const Real* key = lane.key(k, s, j);
            Real* to = lane.key(to_r, to_s, j);
            const Real dp = core::simd().dot(dout, key + width, d);
            const Real e = own[j] * (dp - delta) * lane.scale();
            core::simd().axpy(e, key, lane.query(to_q), d);
            core::simd().axpy(e, lane.query(q.value().data()), to, d);
            core::simd().axpy(own[j], dout, to + width, d);
          }
        });
        core::counters().flops += cost.backward_flops;
        return autograd::Gradients{std::move(dq), std::move(dr), std::move(ds)};
      });
}

}  // namespace weft::layers
