#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// Attention over listed keys written out in double, one query at a time.
/// q: [B n, H D], k, v: [B m, H D]
struct NaiveListed {
  Sequences sequences;
  Index heads, head_width;
  double scale;
  /// The keys that a query reads, a key as often as it counts.
  std::function<std::vector<Index>(Index lane, Index query)> reads;
  /// Weights of a key that is read are divided by how often it is read.
  bool dedup = false;
  /// A query that reads nothing gives its own value, padding zeros.
  bool self_as_fallback = true;

  using Numbers = std::vector<double>;

  Numbers forward(const Numbers& q, const Numbers& k, const Numbers& v) const {
    Numbers out(q.size(), 0.0);
    for (Index b = 0; b < sequences.batch; ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < sequences.queries; ++i) attend(q, k, v, b, h, i, out);
    return out;
  }

 private:
  void attend(const Numbers& q, const Numbers& k, const Numbers& v, Index b, Index h, Index i,
              Numbers& out) const {
    std::vector<Index> keys = reads(b * heads + h, i);
    if (dedup) {
      std::ranges::sort(keys);
      keys.erase(std::ranges::unique(keys).begin(), keys.end());
    }
    const Index real =
        sequences.key_lengths ? (*sequences.key_lengths)[std::size_t(b)] : sequences.keys;
    if (keys.empty() && self_as_fallback && i < real) keys.push_back(i);
    Numbers weights;
    double top = -std::numeric_limits<double>::infinity(), total = 0;
    for (const Index j : keys) {
      double score = 0;
      for (Index d = 0; d < head_width; ++d) score += q[query(b, h, i, d)] * k[key(b, h, j, d)];
      weights.push_back(scale * score);
      top = std::max(top, weights.back());
    }
    for (double& w : weights) total += w = std::exp(w - top);
    for (std::size_t n = 0; n < keys.size(); ++n)
      for (Index d = 0; d < head_width; ++d)
        out[query(b, h, i, d)] += weights[n] / total * v[key(b, h, keys[n], d)];
  }

  std::size_t query(Index b, Index h, Index i, Index d) const {
    return std::size_t(((b * sequences.queries + i) * heads + h) * head_width + d);
  }
  std::size_t key(Index b, Index h, Index j, Index d) const {
    return std::size_t(((b * sequences.keys + j) * heads + h) * head_width + d);
  }
};

/// Keys [from, to) of query i's group in order of position: its own chunk and the one before, at
/// positions before i; `group` gives the group of each token.
inline std::vector<Index> aligned_reads(const std::vector<Index>& group, Index i, Index chunk,
                                        bool causal, bool reads_self) {
  std::vector<Index> members;
  Index rank = 0;
  for (Index t = 0; t < Index(group.size()); ++t) {
    if (group[std::size_t(t)] != group[std::size_t(i)]) continue;
    if (t == i) rank = Index(members.size());
    members.push_back(t);
  }
  std::vector<Index> keys;
  for (Index r = 0; r < Index(members.size()); ++r) {
    const Index back = rank / chunk - r / chunk, j = members[std::size_t(r)];
    if ((back == 0 || back == 1) && (!causal || j <= i) && (reads_self || j != i))
      keys.push_back(j);
  }
  return keys;
}

}  // namespace weft::layers
