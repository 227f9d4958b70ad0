#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// Attention through feature maps written out in double, every pair of query and key by itself.
/// q: [B n, H D], k, v: [B m, H D]
struct NaiveFeatures {
  Sequences sequences;
  Index heads, head_width;

  using Numbers = std::vector<double>;
  /// The weight of a pair of rows [D].
  using Weight = std::function<double(const Numbers& q, const Numbers& k)>;

  /// out_i = sum_j weight(q_i, k_j) v_j / (sum_j weight(q_i, k_j) + eps)
  Numbers weighted(const Numbers& q, const Numbers& k, const Numbers& v, const Weight& weight,
                   double eps) const {
    Numbers out(q.size(), 0.0);
    for_each_query([&](Index b, Index h, Index i) {
      const Numbers query = row(q, sequences.queries, b, h, i);
      Numbers sum(std::size_t(head_width), 0.0);
      double total = eps;
      for (Index j = 0; j < sequences.keys && reads(b, i, j); ++j) {
        const double w = weight(query, row(k, sequences.keys, b, h, j));
        total += w;
        for (Index d = 0; d < head_width; ++d)
          sum[std::size_t(d)] += w * v[place(sequences.keys, b, h, j, d)];
      }
      for (Index d = 0; d < head_width; ++d)
        out[place(sequences.queries, b, h, i, d)] = total != 0 ? sum[std::size_t(d)] / total : 0;
    });
    return out;
  }

  /// out_i = sum_c softmax_c(q_i) sum_j softmax_j(k_jc) v_j
  Numbers two_softmaxes(const Numbers& q, const Numbers& k, const Numbers& v) const {
    Numbers out(q.size(), 0.0);
    for_each_query([&](Index b, Index h, Index i) {
      const Numbers share = softmax(row(q, sequences.queries, b, h, i));
      for (Index c = 0; c < head_width; ++c) {
        Numbers column;
        for (Index j = 0; j < sequences.keys && reads(b, i, j); ++j)
          column.push_back(k[place(sequences.keys, b, h, j, c)]);
        column = softmax(column);
        for (Index j = 0; j < Index(column.size()); ++j)
          for (Index d = 0; d < head_width; ++d)
            out[place(sequences.queries, b, h, i, d)] += share[std::size_t(c)] *
                                                         column[std::size_t(j)] *
                                                         v[place(sequences.keys, b, h, j, d)];
      }
    });
    return out;
  }

  static Numbers softmax(Numbers x) {
    double top = -INFINITY, total = 0;
    for (const double v : x) top = std::max(top, v);
    for (double& v : x) total += v = std::exp(v - top);
    for (double& v : x) v /= total;
    return x;
  }
  static double dot(const Numbers& x, const Numbers& y) {
    double total = 0;
    for (std::size_t d = 0; d < x.size(); ++d) total += x[d] * y[d];
    return total;
  }

 private:
  template <class Body>
  void for_each_query(const Body& body) const {
    for (Index b = 0; b < sequences.batch; ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < sequences.queries; ++i) body(b, h, i);
  }
  std::size_t place(Index length, Index b, Index h, Index i, Index d) const {
    return std::size_t(((b * length + i) * heads + h) * head_width + d);
  }
  Numbers row(const Numbers& x, Index length, Index b, Index h, Index i) const {
    const auto first = x.begin() + Index(place(length, b, h, i, 0));
    return {first, first + head_width};
  }
  bool reads(Index b, Index i, Index j) const {
    const bool real = !sequences.key_lengths || j < (*sequences.key_lengths)[std::size_t(b)];
    return real && (!sequences.causal || j <= i + sequences.keys - sequences.queries);
  }
};

}  // namespace weft::layers
