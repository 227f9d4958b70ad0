#include "layers/star/ring_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/star/ring.h"

namespace weft::layers {
namespace {

/// The keys of a satellite, in this order.
enum Slot { left, self, right, embedding, relay, slots };

constexpr Index grain = 64;  ///< satellites of one task

/// Where the numbers of a call are.
struct Ring {
  const RingProblem& problem;
  Index width;
  const Real *q, *satellites, *embeddings, *relays;

  Index length() const { return problem.sequences.queries; }
  Index rows() const { return problem.sequences.batch * length(); }
  Index head_width() const { return width / problem.heads; }
  Real scale() const { return Real(1 / std::sqrt(double(head_width()))); }
  Index real(Index b) const { return problem.sequences.real_keys(b); }

  /// The key of a slot of row `row`; its value is `width` columns after it. Null for zeros.
  /// False where there is no such key.
  bool find(Index row, Slot slot, const Real*& key) const {
    const Index b = row / length(), t = row % length();
    key = nullptr;
    if (slot == embedding) key = embeddings + row * 2 * width;
    if (slot == relay) key = relays + b * 2 * width;
    if (slot == self) key = satellites + row * 2 * width;
    if (key) return true;
    const Neighbours around = neighbours_of(problem.ring, t, real(b));
    const Index other = slot == left ? around.left : around.right;
    if (other == Neighbours::nobody) return false;
    if (other != Neighbours::zeros) key = satellites + (b * length() + other) * 2 * width;
    return true;
  }
};

/// Numbers for each row, head and slot: [B T, H, slots]
Real* at(Real* x, const Ring& ring, Index row, Index head) {
  return x + (row * ring.problem.heads + head) * slots;
}
const Real* at(const Real* x, const Ring& ring, Index row, Index head) {
  return x + (row * ring.problem.heads + head) * slots;
}

/// The keys of one satellite.
struct Keys {
  Keys(const Ring& ring, Index row) {
    for (int s = 0; s < slots; ++s)
      exists[std::size_t(s)] = ring.find(row, Slot(s), key[std::size_t(s)]);
  }
  std::array<bool, slots> exists;
  std::array<const Real*, slots> key;
};

/// p and out of one satellite.
void attend(const Ring& ring, Index row, Real* p, Real* out) {
  const Index d = ring.head_width();
  const Keys keys(ring, row);
  for (Index h = 0; h < ring.problem.heads; ++h, out += d) {
    const Real* q = ring.q + row * ring.width + h * d;
    Real* weights = at(p, ring, row, h);
    Real top = -std::numeric_limits<Real>::infinity(), total = 0;
    for (std::size_t s = 0; s < slots; ++s) {
      if (!keys.exists[s]) continue;
      const Real* k = keys.key[s];
      weights[s] = k ? ring.scale() * core::simd().dot(q, k + h * d, d) : Real(0);
      top = std::max(top, weights[s]);
    }
    for (std::size_t s = 0; s < slots; ++s)
      if (keys.exists[s]) total += weights[s] = std::exp(weights[s] - top);
    for (std::size_t s = 0; s < slots; ++s) {
      if (!keys.exists[s]) continue;
      weights[s] /= total;
      if (keys.key[s]) core::simd().axpy(weights[s], keys.key[s] + ring.width + h * d, out, d);
    }
  }
}

/// e of one satellite, and from it dq and the gradient of its embedding.
void pull_back_queries(const Ring& ring, Index row, const Real* p, const Real* dy, Real* e,
                       Real* dq, Real* dembeddings) {
  const Index d = ring.head_width(), width = ring.width;
  const Keys keys(ring, row);
  for (Index h = 0; h < ring.problem.heads; ++h) {
    const Real *dout = dy + row * width + h * d, *q = ring.q + row * width + h * d;
    const Real* weights = at(p, ring, row, h);
    Real* own = at(e, ring, row, h);
    Real delta = 0;
    for (std::size_t s = 0; s < slots; ++s)
      if (keys.exists[s] && keys.key[s])
        delta += weights[s] * (own[s] = core::simd().dot(dout, keys.key[s] + width + h * d, d));
    for (std::size_t s = 0; s < slots; ++s) {
      if (!keys.exists[s]) continue;
      own[s] = weights[s] * (own[s] - delta) * ring.scale();
      if (keys.key[s]) core::simd().axpy(own[s], keys.key[s] + h * d, dq + row * width + h * d, d);
    }
    Real* to = dembeddings + row * 2 * width + h * d;
    core::simd().axpy(own[embedding], q, to, d);
    core::simd().axpy(weights[embedding], dout, to + width, d);
  }
}

/// Adds to the gradient of one key and its value what reader `row` sends through a slot.
void send(const Ring& ring, Index row, Index h, std::size_t slot, const Real* p, const Real* e,
          const Real* dy, Real* to) {
  const Index d = ring.head_width(), width = ring.width;
  core::simd().axpy(at(e, ring, row, h)[slot], ring.q + row * width + h * d, to + h * d, d);
  core::simd().axpy(at(p, ring, row, h)[slot], dy + row * width + h * d, to + width + h * d, d);
}

/// The gradient of one satellite's key and value: of itself and of those whose neighbour it is.
void pull_back_satellite(const Ring& ring, Index row, const Real* p, const Real* e, const Real* dy,
                         Real* dsatellites) {
  const Index b = row / ring.length(), t = row % ring.length(), n = ring.real(b);
  const Index first = b * ring.length();
  Real* to = dsatellites + row * 2 * ring.width;
  for (Index h = 0; h < ring.problem.heads; ++h) {
    send(ring, row, h, self, p, e, dy, to);
    for (const Index reader : {(t + n - 1) % n, (t + 1) % n}) {
      const Neighbours around = neighbours_of(ring.problem.ring, reader, n);
      if (around.left == t) send(ring, first + reader, h, left, p, e, dy, to);
      if (around.right == t) send(ring, first + reader, h, right, p, e, dy, to);
      if (n == 2) break;  // the other satellite is before and after
    }
  }
}

}  // namespace

Cost RingProblem::cost(Index width) const {
  Index pairs = 0, products = 0, rows = sequences.batch * sequences.queries;
  for (Index b = 0; b < sequences.batch; ++b) {
    const Index n = sequences.real_keys(b);
    pairs += heads * (ring_reads(ring, n, true) + 2 * n);
    products += heads * (ring_reads(ring, n, false) + 2 * n);
  }
  const Index flops = 4 * products * (width / heads);
  return {pairs, flops, 2 * flops, Index(sizeof(Real)) * rows * heads * slots};
}

Var ring_attention(const RingProblem& problem, const Var& q, const Var& satellites,
                   const Var& embeddings, const Var& relay) {
  const Index width = q.shape().back(), rows = q.shape()[0], batch = problem.sequences.batch;
  core::require(rows == batch * problem.sequences.queries && width % problem.heads == 0 &&
                    satellites.shape() == core::Shape{rows, 2 * width} &&
                    embeddings.shape() == satellites.shape() &&
                    relay.shape() == core::Shape{batch, 2 * width},
                "ring_attention: queries ", q.shape(), ", satellites ", satellites.shape(),
                ", embeddings ", embeddings.shape(), ", relay ", relay.shape());
  const auto ring_of = [=](const RingProblem& own, const Var& a, const Var& s, const Var& x,
                           const Var& r) {
    return Ring{own, width, a.value().data(), s.value().data(), x.value().data(), r.value().data()};
  };
  Tensor y({rows, width}, 0), weights({rows, problem.heads * slots}, 0);
  Real *out = y.write().data(), *p = weights.write().data();
  const Ring ring = ring_of(problem, q, satellites, embeddings, relay);
  core::parallel_for(rows, grain, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row)
      if (row % ring.length() < ring.real(row / ring.length()))
        attend(ring, row, p, out + row * width);
  });
  const Cost cost = problem.cost(width);
  core::counters().scored_pairs += cost.scored_pairs;
  core::counters().flops += cost.flops;
  return autograd::record(
      "ring_attention", std::move(y), {q, satellites, embeddings, relay}, [=](const Tensor& dy) {
        const Ring own = ring_of(problem, q, satellites, embeddings, relay);
        Tensor dq({rows, width}, 0), ds({rows, 2 * width}, 0), dx({rows, 2 * width}, 0),
            dr({batch, 2 * width}, 0), scores(weights.shape(), 0);
        Real *to_q = dq.write().data(), *to_s = ds.write().data(), *to_x = dx.write().data(),
             *to_r = dr.write().data(), *e = scores.write().data();
        const auto each_real_row = [&](const auto& body) {
          core::parallel_for(rows, grain, [&](Index begin, Index end) {
            for (Index row = begin; row < end; ++row)
              if (row % own.length() < own.real(row / own.length())) body(row);
          });
        };
        each_real_row([&](Index row) {
          pull_back_queries(own, row, weights.data(), dy.data(), e, to_q, to_x);
        });
        each_real_row(
            [&](Index row) { pull_back_satellite(own, row, weights.data(), e, dy.data(), to_s); });
        core::parallel_for(batch * problem.heads, 1, [&](Index lane, Index) {
          const Index b = lane / problem.heads, h = lane % problem.heads;
          for (Index t = 0; t < own.real(b); ++t)
            send(own, b * own.length() + t, h, Slot::relay, weights.data(), e, dy.data(),
                 to_r + b * 2 * width);
        });
        core::counters().flops += cost.backward_flops;
        return autograd::Gradients{std::move(dq), std::move(ds), std::move(dx), std::move(dr)};
      });
}

}  // namespace weft::layers
