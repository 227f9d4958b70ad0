#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "layers/attention/contract/attention.h"
#include "tests/layers/attention/naive_entmax.h"

namespace weft::layers {

/// Attention written out in double, one query at a time, over the pairs that `allowed` names, or
/// over all: softmax, or entmax with the alpha of each head.
/// q: [B n, H D], k, v: [B m, G D]
struct NaiveDense {
  Sequences sequences;
  Index heads, head_width;
  double scale;
  std::function<bool(Index head, Index i, Index j)> allowed = nullptr;
  std::vector<double> alphas = {};
  Index key_heads = 0;             ///< G; 0 for as many as heads
  std::vector<double> sinks = {};  ///< of each head, a score without a value
  std::function<double(Index b, Index head, Index i, Index j)> bias = nullptr;  ///< of scores

  using Numbers = std::vector<double>;
  struct Gradients {
    Numbers q, k, v;
  };

  Numbers forward(const Numbers& q, const Numbers& k, const Numbers& v) const {
    Numbers out(q.size(), 0.0);
    for_each_query([&](Index b, Index h, Index i) {
      const Numbers p = weights(q, k, b, h, i);
      for (Index j = 0; j < Index(p.size()); ++j)
        for (Index d = 0; d < head_width; ++d)
          out[query(b, h, i, d)] += p[std::size_t(j)] * v[key(b, h, j, d)];
    });
    return out;
  }

  /// dS = P (dO V^T - dO . O), of softmax
  Gradients backward(const Numbers& q, const Numbers& k, const Numbers& v,
                     const Numbers& dout) const {
    const Numbers out = forward(q, k, v);
    Gradients g{Numbers(q.size(), 0.0), Numbers(k.size(), 0.0), Numbers(v.size(), 0.0)};
    for_each_query([&](Index b, Index h, Index i) {
      const Numbers p = weights(q, k, b, h, i);
      for (Index j = 0; j < Index(p.size()); ++j) {
        double ds = 0;
        for (Index d = 0; d < head_width; ++d) {
          const double up = dout[query(b, h, i, d)];
          ds += up * (v[key(b, h, j, d)] - out[query(b, h, i, d)]);
          g.v[key(b, h, j, d)] += p[std::size_t(j)] * up;
        }
        ds *= p[std::size_t(j)] * scale;
        for (Index d = 0; d < head_width; ++d) {
          g.q[query(b, h, i, d)] += ds * k[key(b, h, j, d)];
          g.k[key(b, h, j, d)] += ds * q[query(b, h, i, d)];
        }
      }
    });
    return g;
  }

 private:
  template <class Body>
  void for_each_query(const Body& body) const {
    for (Index b = 0; b < sequences.batch; ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < sequences.queries; ++i) body(b, h, i);
  }
  std::size_t query(Index b, Index h, Index i, Index d) const {
    return std::size_t(((b * sequences.queries + i) * heads + h) * head_width + d);
  }
  std::size_t key(Index b, Index h, Index j, Index d) const {
    const Index all = key_heads > 0 ? key_heads : heads, own = h * all / heads;
    return std::size_t(((b * sequences.keys + j) * all + own) * head_width + d);
  }
  bool reads(Index b, Index h, Index i, Index j) const {
    const bool real = !sequences.key_lengths || j < (*sequences.key_lengths)[std::size_t(b)];
    return real && (!allowed || allowed(h, i, j)) &&
           (!sequences.causal || j <= i + sequences.keys - sequences.queries);
  }

  /// The weights of one row, 0 where it does not read: [m]
  Numbers weights(const Numbers& q, const Numbers& k, Index b, Index h, Index i) const {
    constexpr double nothing = -std::numeric_limits<double>::infinity();
    Numbers p(static_cast<std::size_t>(sequences.keys), nothing);
    for (Index j = 0; j < sequences.keys; ++j) {
      if (!reads(b, h, i, j)) continue;
      double score = 0;
      for (Index d = 0; d < head_width; ++d) score += q[query(b, h, i, d)] * k[key(b, h, j, d)];
      p[std::size_t(j)] = scale * score + (bias ? bias(b, h, i, j) : 0);
    }
    if (!sinks.empty()) p.push_back(sinks[std::size_t(h)]);
    naive_weights(p, alphas.empty() ? 1 : alphas[std::size_t(h)]);
    p.resize(std::size_t(sequences.keys));
    return p;
  }
};

}  // namespace weft::layers
