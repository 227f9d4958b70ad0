#pragma once

#include "tests/layers/attention/naive_chosen.h"

namespace weft::layers {

/// Settings of NSA, and the inputs of each branch's keys.
struct NaiveNsa {
  Index block = 32, stride = 16, select_block = 64, selected = 16, first = 1, nearest = 2;
  Index window = 512;
  std::size_t fine = 1, near = 1;

  Index closed(Index t) const { return t + 1 < block ? 0 : (t + 1 - block) / stride + 1; }

  std::vector<double> weights(const NaiveChosen& naive, Index b, Index h, Index t) const {
    std::vector<double> scores;
    for (Index c = 0; c < closed(t); ++c)
      scores.push_back(naive.scale() * NaiveChosen::dot(naive.query(b, h, t),
                                                        naive.mean(1, b, h, c * stride, block)));
    return NaiveChosen::softmax(scores);
  }

  /// Token by token of each entry, so that overlaps need no formula.
  std::vector<Index> chosen(const NaiveChosen& naive, Index b, Index h, Index t) const {
    const Index own = t / select_block, group = naive.sample.heads() / naive.sample.key_heads();
    std::vector<double> scores(std::size_t(own) + 1, 0.0);
    for (Index other = h / group * group; other < (h / group + 1) * group; ++other) {
      const std::vector<double> p = weights(naive, b, other, t);
      for (Index c = 0; c < Index(p.size()); ++c)
        for (Index j = c * stride; j < c * stride + block; ++j)
          if (j / select_block <= own)
            scores[std::size_t(j / select_block)] += p[std::size_t(c)] / double(stride);
    }
    for (Index j = 0; j <= own; ++j)
      if (j < first || j > own - nearest) scores[std::size_t(j)] = 1e9;
    return NaiveChosen::best(scores, selected);
  }

  void attend(const NaiveChosen& naive, Index b, Index h, Index t, const double* gates,
              std::vector<double>& out) const {
    std::vector<std::vector<double>> keys, values;
    for (Index c = 0; c < closed(t); ++c) {
      keys.push_back(naive.mean(1, b, h, c * stride, block));
      values.push_back(naive.mean(2, b, h, c * stride, block));
    }
    naive.attend(b, h, t, keys, values, gates[0], out);
    naive.attend_blocks(b, h, t, chosen(naive, b, h, t), select_block, gates[1], out, fine);
    keys.clear();
    values.clear();
    for (Index j = std::max<Index>(0, t - window + 1); j <= t; ++j) {
      keys.push_back(naive.key(near, b, h, j));
      values.push_back(naive.key(near + 1, b, h, j));
    }
    naive.attend(b, h, t, keys, values, gates[2], out);
  }
};

/// Gates from the layer's input by the mechanism's parameters: weight and bias of each branch.
inline auto nsa_oracle(const NaiveNsa& nsa) {
  return [=](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    const NaiveChosen naive{sample, inputs};
    std::vector<double> out = naive.empty();
    const auto W = std::size_t(sample.width());
    naive.for_each_real_query([&](Index b, Index h, Index t) {
      double gates[3];
      for (std::size_t i = 0; i < 3; ++i) {
        const auto& parameters = sample.inventory().parameters();
        double z = parameters.at(2 * i + 1).parameter->data()[h];
        for (std::size_t w = 0; w < W; ++w)
          z += double(parameters.at(2 * i).parameter->data()[std::size_t(h) * W + w]) *
               inputs.back()[std::size_t(b * naive.length() + t) * W + w];
        gates[i] = 1 / (1 + std::exp(-z));
      }
      nsa.attend(naive, b, h, t, gates, out);
    });
    return out;
  };
}

}  // namespace weft::layers
