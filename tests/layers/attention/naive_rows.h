#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "tests/layers/attention/attention_sample.h"

namespace weft::layers {

/// One pair of rows that attention with labels scores.
struct NaiveEdge {
  bool read = false;
  Index label = 0;
  std::size_t table = 0;  ///< parameter with a row for each label
  bool biased = false;    ///< the parameter behind it holds a number for each head and label
  std::size_t q = 0, k = 1, v = 2;  ///< projections
};

/// score = (q . k + q . a[label] + b[label]) / sqrt(D), one softmax over all that a row reads; rows
/// without keys give 0.
inline std::vector<double> naive_labelled(
    const AttentionSample& sample, const std::vector<std::vector<double>>& inputs,
    const std::function<NaiveEdge(Index b, Index h, Index u, Index v)>& edge) {
  const Index rows = sample.sequences().queries, H = sample.heads(), D = sample.head_width();
  std::vector<double> out(std::size_t(sample.sequences().batch * rows * H * D), 0.0);
  const auto& parameters = sample.inventory().parameters();
  for (Index b = 0; b < sample.sequences().batch; ++b)
    for (Index h = 0; h < H; ++h)
      for (Index u = 0; u < rows; ++u) {
        const auto at = [&](Index row) { return ((b * rows + row) * H + h) * D; };
        std::vector<double> scores(std::size_t(rows), 0.0);
        double top = -1e300, total = 0;
        for (Index v = 0; v < rows; ++v) {
          const NaiveEdge e = edge(b, h, u, v);
          if (!e.read) continue;
          const autograd::Parameter& table = *parameters.at(e.table).parameter;
          const Index columns = table.shape()[1];
          const Real* a = table.data() + e.label * columns + (columns == D ? 0 : h * D);
          double score = 0;
          for (Index d = 0; d < D; ++d)
            score += inputs[e.q][std::size_t(at(u) + d)] *
                     (inputs[e.k][std::size_t(at(v) + d)] + double(a[d]));
          if (e.biased) {
            const autograd::Parameter& bias = *parameters.at(e.table + 1).parameter;
            score += double(bias.data()[h * bias.shape()[1] + e.label]);
          }
          scores[std::size_t(v)] = score / std::sqrt(double(D));
          top = std::max(top, scores[std::size_t(v)]);
        }
        for (Index v = 0; v < rows; ++v)
          if (edge(b, h, u, v).read) total += std::exp(scores[std::size_t(v)] - top);
        for (Index v = 0; v < rows; ++v) {
          const NaiveEdge e = edge(b, h, u, v);
          for (Index d = 0; e.read && d < D; ++d)
            out[std::size_t(at(u) + d)] += std::exp(scores[std::size_t(v)] - top) / total *
                                           inputs[e.v][std::size_t(at(v) + d)];
        }
      }
  return out;
}

/// Every edge of BP-Transformer over n tokens, node by node and step by step: label of
/// [reader][source], -1 where there is none.
inline std::vector<std::vector<Index>> naive_partition(Index n, Index fan, Index clip,
                                                       bool causal) {
  std::vector<Index> first{0}, size{n};
  while (size.back() > 1) {
    first.push_back(first.back() + size.back());
    size.push_back((size.back() + 1) / 2);
  }
  const Index nodes = first.back() + 1, B = 2 * fan + 1;
  std::vector<std::vector<Index>> label(std::size_t(nodes),
                                        std::vector<Index>(std::size_t(nodes), -1));
  const auto power = [](Index level) { return Index(1) << level; };
  const auto set = [&](Index reader, Index source, Index value) {
    label[std::size_t(reader)][std::size_t(source)] = value;
  };
  for (Index l = 0; l < Index(size.size()); ++l)
    for (Index x = 0; x < size[std::size_t(l)]; ++x)
      for (Index t = x * power(l); t < std::min((x + 1) * power(l), n); ++t)
        set(first[std::size_t(l)] + x, t, B * std::min(l, clip));
  for (Index i = 0; i < n; ++i) {
    Index end = i, begin = i + 1;
    for (Index l = 0; l < Index(size.size()); ++l)
      for (Index r = 0; r < fan; ++r) {
        if (end > 0) {
          const Index m = end % power(l) == 0 ? l : l - 1;
          end -= power(m);
          set(i, first[std::size_t(m)] + end / power(m), B * std::min(l, clip) + 2 * r + 1);
        }
        if (!causal && begin < n) {
          const Index m = begin % power(l) == 0 ? l : l - 1;
          set(i, first[std::size_t(m)] + begin / power(m), B * std::min(l, clip) + 2 * r + 2);
          begin += power(m);
        }
      }
  }
  return label;
}

/// What an oracle of BP-Transformer must know.
struct NaiveBp {
  Index fan = 4, clip = 6;

  std::vector<double> operator()(const AttentionSample& sample,
                                 const std::vector<std::vector<double>>& inputs) const {
    std::vector<std::vector<std::vector<Index>>> labels;
    for (const RowLayout& layout : *sample.sequences().rows)
      labels.push_back(naive_partition(layout.tokens(), fan, clip, sample.sequences().causal));
    return naive_labelled(sample, inputs, [&](Index b, Index, Index u, Index v) {
      const auto& own = labels[std::size_t(b)];
      const bool real = std::max(u, v) < Index(own.size());
      const Index label = real ? own[std::size_t(u)][std::size_t(v)] : -1;
      return NaiveEdge{label >= 0, label};
    });
  }
};

/// What an oracle of global-local attention must know: tokens read each other in a window of
/// `window` tokens, or in blocks of `block`, each with one before and one after it and drawn ones.
struct NaiveEtc {
  Index window = 169, block = 0, clip = 12, every = 27;
  bool hard = false;
  std::size_t sets = 1;  ///< of projections: 1, 2, or 3 where the sides have keys for each other

  bool near(const AttentionSample& sample, Index h, Index i, Index j) const {
    if (block == 0) return std::abs(i - j) <= window / 2;
    const auto& states = sample.inventory().states();
    const bool beside = std::abs(i / block - j / block) <= 1;
    if (states.empty() || beside) return beside;
    const Tensor& table = states.at(0).state->value();
    const Index count = table.shape()[2];
    const Real* row = table.data() + (h * table.shape()[1] + i / block) * count;
    return std::find(row, row + count, Real(j / block)) != row + count;
  }

  std::vector<double> operator()(const AttentionSample& sample,
                                 const std::vector<std::vector<double>>& inputs) const {
    return naive_labelled(sample, inputs, [&](Index b, Index h, Index u, Index v) {
      const Index n = (*sample.sequences().rows)[std::size_t(b)].tokens();
      const Index G = 1 + (n + every - 1) / every;
      NaiveEdge edge;
      if (std::max(u, v) >= G + n) return edge;
      const bool from = u < G, to = v < G;
      if (from == to) {
        edge.read = from || near(sample, h, u - G, v - G);
        const Index d = v - u;
        edge.label = d >= 0 ? std::min(d, clip) : clip + std::min(-d, clip);
      } else {
        const bool own = (from ? v - G : u - G) / every + 1 == (from ? u : v);
        edge.read = own || !hard;
        edge.label = own ? 2 * clip + 2 : 2 * clip + 1;
      }
      edge.table = from ? 2 : 0;
      edge.biased = true;
      if (sets > 1 && from) edge.q = 3, edge.k = 4, edge.v = 5;
      if (sets > 2 && from != to) edge.k = from ? 8 : 6, edge.v = from ? 9 : 7;
      return edge;
    });
  }
};

}  // namespace weft::layers
