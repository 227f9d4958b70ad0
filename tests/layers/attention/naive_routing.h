#pragma once

#include "layers/attention/clusters/centroids.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/naive_listed.h"

namespace weft::layers {

/// (x - mean) / deviation of each head.  x: [tokens, H D]
inline std::vector<double> naive_standard(const std::vector<double>& x, Index width) {
  std::vector<double> y = x;
  for (std::size_t first = 0; first < x.size(); first += std::size_t(width)) {
    double mean = 0, variance = 1e-6;
    for (std::size_t d = first; d < first + std::size_t(width); ++d) mean += x[d] / double(width);
    for (std::size_t d = first; d < first + std::size_t(width); ++d)
      variance += (x[d] - mean) * (x[d] - mean) / double(width);
    for (std::size_t d = first; d < first + std::size_t(width); ++d)
      y[d] = (x[d] - mean) / std::sqrt(variance);
  }
  return y;
}

/// Strict routing attention in double. Inputs are q, v with shared keys, else q, k, v.
struct NaiveRouting {
  Index clusters = 0;  ///< 0 for the root of the length
  Index window = 128;
  bool shared = true;

  /// Of every lane and token: the cluster whose centre has the largest product with it.
  /// tokens: [B T, H D] in standard form, centres: [H, K, D]
  static std::vector<std::vector<Index>> join(const std::vector<double>& tokens,
                                              const Tensor& centres, Index batch) {
    const Index heads = centres.shape()[0], count = centres.shape()[1], width = centres.shape()[2];
    const Index length = Index(tokens.size()) / (batch * heads * width);
    std::vector<std::vector<Index>> all;
    for (Index lane = 0; lane < batch * heads; ++lane) {
      const Index b = lane / heads, h = lane % heads;
      auto& of_lane = all.emplace_back();
      for (Index t = 0; t < length; ++t) {
        Index best = 0;
        double top = -1e300;
        for (Index c = 0; c < count; ++c) {
          double y = 0;
          for (Index d = 0; d < width; ++d)
            y += tokens[std::size_t(((b * length + t) * heads + h) * width + d)] *
                 double(centres.read()[std::size_t((h * count + c) * width + d)]);
          if (y > top) top = y, best = c;
        }
        of_lane.push_back(best);
      }
    }
    return all;
  }

  /// With keys of their own, a query's chunk is that of its cluster's last key up to its position.
  std::vector<Index> reads(const std::vector<Index>& key_clusters, Index cluster, Index position,
                           bool causal) const {
    std::vector<Index> members, keys;
    Index seen = 0;
    for (Index j = 0; j < Index(key_clusters.size()); ++j)
      if (key_clusters[std::size_t(j)] == cluster) {
        members.push_back(j);
        seen += j <= position;
      }
    const Index chunk = std::max<Index>(0, seen - 1) / window;
    for (Index r = 0; r < Index(members.size()); ++r) {
      const Index back = chunk - r / window;
      if ((back == 0 || back == 1) && (!causal || r < seen))
        keys.push_back(members[std::size_t(r)]);
    }
    return keys;
  }

  std::vector<double> forward(const AttentionSample& sample, const Tensor& centres,
                              const std::vector<std::vector<double>>& inputs) const {
    const Sequences& s = sample.sequences();
    const Index heads = sample.heads(), width = sample.head_width();
    const auto joined = [&](std::size_t input) {
      const auto tokens = tests::in_double(sample.inputs()[input].read());
      return join(naive_standard(tokens, width), centres, s.batch);
    };
    const auto of_queries = joined(0), of_keys = joined(shared ? 0 : 1);
    const auto list = [&](Index lane, Index i) -> std::vector<Index> {
      std::vector<Index> own = of_keys[std::size_t(lane)];
      own.resize(std::size_t(s.key_lengths ? (*s.key_lengths)[std::size_t(lane / heads)] : s.keys));
      const Index cluster = of_queries[std::size_t(lane)][std::size_t(i)];
      if (!shared) return reads(own, cluster, i + s.keys - s.queries, s.causal);
      if (i >= Index(own.size())) return {};
      return aligned_reads(own, i, window, s.causal, false);
    };
    const NaiveListed naive{s, heads, width, 1 / std::sqrt(double(width)), list, false, shared};
    const std::vector<double> q = naive_standard(inputs[0], width);
    return naive.forward(q, shared ? q : naive_standard(inputs[1], width), inputs[shared ? 1 : 2]);
  }
};

/// The naive twin under given settings. The centroids are those that the sample's training pass
/// starts with.
inline auto routing_oracle(NaiveRouting naive) {
  return [naive](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    const Sequences& s = sample.sequences();
    const Index root = std::lround(std::sqrt(double(std::max(s.queries, s.keys))));
    const CentroidSettings settings{.heads = sample.heads(),
                                    .clusters = naive.clusters > 0 ? naive.clusters : root,
                                    .width = sample.head_width(),
                                    .form = {HeadForm::Law::standard, Real(1e-6)}};
    const Tensor centres = Centroids::draw(settings, core::Rng(3).fold("centroids"));
    return naive.forward(sample, centres, inputs);
  };
}

}  // namespace weft::layers
