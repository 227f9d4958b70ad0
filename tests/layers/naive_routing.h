#pragma once

#include "layers/attention/centroids.h"
#include "tests/closeness.h"
#include "tests/layers/attention_sample.h"
#include "tests/layers/naive_listed.h"

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

/// Strict routing attention with shared keys, in double.  centres: [H, K, D]
struct NaiveRouting {
  Tensor centres;
  Index window = 128;

  /// Of every lane and real token: the cluster whose centre has the largest product with it.
  std::vector<std::vector<Index>> clusters(const Sequences& s, Index heads, Index width,
                                           const std::vector<double>& tokens) const {
    const Index count = centres.shape()[1];
    std::vector<std::vector<Index>> all;
    for (Index lane = 0; lane < s.batch * heads; ++lane) {
      const Index b = lane / heads, h = lane % heads;
      const Index real = s.key_lengths ? (*s.key_lengths)[std::size_t(b)] : s.keys;
      auto& of_lane = all.emplace_back();
      for (Index t = 0; t < real; ++t) {
        Index best = 0;
        double top = -1e300;
        for (Index c = 0; c < count; ++c) {
          double y = 0;
          for (Index d = 0; d < width; ++d)
            y += tokens[std::size_t(((b * s.keys + t) * heads + h) * width + d)] *
                 double(centres.read()[std::size_t((h * count + c) * width + d)]);
          if (y > top) top = y, best = c;
        }
        of_lane.push_back(best);
      }
    }
    return all;
  }

  std::vector<double> forward(const AttentionSample& sample,
                              const std::vector<std::vector<double>>& inputs) const {
    const Sequences& s = sample.sequences();
    const Index heads = sample.heads(), width = sample.head_width();
    const auto groups = clusters(
        s, heads, width, naive_standard(tests::in_double(sample.inputs()[0].read()), width));
    const NaiveListed naive{s, heads, width, 1 / std::sqrt(double(width)),
                            [&](Index lane, Index i) -> std::vector<Index> {
                              const auto& group = groups[std::size_t(lane)];
                              if (i >= Index(group.size())) return {};
                              return aligned_reads(group, i, window, s.causal, false);
                            }};
    const std::vector<double> x = naive_standard(inputs[0], width);
    return naive.forward(x, x, inputs[1]);
  }
};

}  // namespace weft::layers
