#pragma once

#include "tests/layers/attention/naive_chosen.h"

namespace weft::layers {

/// An index whose parameters begin at number `first` of a sample's: maps of queries for each head,
/// of keys and of weights, gain and shift of the keys' norm.
struct NaiveIndex {
  using Numbers = std::vector<double>;

  const NaiveChosen& naive;
  std::size_t first;

  /// Everything but the last four is a head's map of queries.
  std::size_t heads() const { return naive.sample.inventory().parameters().size() - first - 4; }
  std::span<const Real> parameter(std::size_t i) const {
    return naive.sample.inventory().parameters().at(first + i).parameter->value().read();
  }
  /// x W^T
  Numbers mapped(std::size_t i, const Numbers& x) const {
    const auto weight = parameter(i);
    Numbers y(weight.size() / x.size(), 0.0);
    for (std::size_t r = 0; r < y.size(); ++r)
      for (std::size_t c = 0; c < x.size(); ++c) y[r] += double(weight[r * x.size() + c]) * x[c];
    return y;
  }
  Numbers x(Index b, Index t) const {
    const auto begin =
        naive.inputs.back().begin() + (b * naive.length() + t) * naive.sample.width();
    return {begin, begin + naive.sample.width()};
  }
  Numbers key(const Numbers& of) const {
    Numbers y = mapped(heads(), of);
    double mean = 0, variance = 0;
    for (const double v : y) mean += v / double(y.size());
    for (const double v : y) variance += (v - mean) * (v - mean) / double(y.size());
    for (std::size_t d = 0; d < y.size(); ++d)
      y[d] = (y[d] - mean) / std::sqrt(variance + 1e-6) * double(parameter(heads() + 2)[d]) +
             double(parameter(heads() + 3)[d]);
    return y;
  }
  /// The scores of a query and keys that are made of these inputs.
  Numbers scores(Index b, Index t, const std::vector<Numbers>& of) const {
    const Numbers w = mapped(heads() + 1, x(b, t));
    std::vector<Numbers> q;
    for (std::size_t i = 0; i < heads(); ++i) q.push_back(mapped(i, x(b, t)));
    Numbers all;
    for (const Numbers& one : of) {
      const Numbers k = key(one);
      double sum = 0;
      for (std::size_t i = 0; i < w.size(); ++i)
        sum += w[i] * std::max(0.0, NaiveChosen::dot(q[i], k)) /
               std::sqrt(double(w.size() * k.size()));
      all.push_back(sum);
    }
    return all;
  }
};

/// The tokens of the largest index scores.
inline auto indexed_oracle(Index selected) {
  return [=](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    const NaiveChosen naive{sample, inputs};
    const NaiveIndex index{naive, 0};
    std::vector<double> out = naive.empty();
    naive.for_each_real_query([&](Index b, Index h, Index t) {
      std::vector<std::vector<double>> seen, keys, values;
      for (Index j = 0; j <= t; ++j) seen.push_back(index.x(b, j));
      for (const Index j : NaiveChosen::best(index.scores(b, t, seen), selected)) {
        keys.push_back(naive.key(1, b, h, j));
        values.push_back(naive.key(2, b, h, j));
      }
      naive.attend(b, h, t, keys, values, 1, out);
    });
    return out;
  };
}

/// A window and pooled entries, all that are closed or the best by the index.
inline auto compressed_oracle(Index window, Index ratio, Index selected, bool sinks) {
  return [=](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    using Numbers = std::vector<double>;
    const NaiveChosen naive{sample, inputs};
    const NaiveIndex index{naive, sinks ? 2u : 1u};
    const auto& parameters = sample.inventory().parameters();
    const Real* bias = parameters.at(0).parameter->data();
    const Index columns = sample.key_heads() * sample.head_width();
    const auto pooled = [&](std::size_t input, Index b, Index h, Index c) {
      Numbers sum(std::size_t(naive.width()), 0.0);
      for (Index d = 0; d < naive.width(); ++d) {
        Numbers logits;
        for (Index a = 0; a < ratio; ++a)
          logits.push_back(
              naive.key(3, b, h, c * ratio + a)[std::size_t(d)] +
              double(
                  bias[a * columns + h * sample.key_heads() / sample.heads() * naive.width() + d]));
        const Numbers weights = NaiveChosen::softmax(logits);
        for (Index a = 0; a < ratio; ++a)
          sum[std::size_t(d)] +=
              weights[std::size_t(a)] * naive.key(input, b, h, c * ratio + a)[std::size_t(d)];
      }
      return sum;
    };
    Numbers out = naive.empty();
    naive.for_each_real_query([&](Index b, Index h, Index t) {
      const Index closed = (t + 1) / ratio;
      std::vector<Numbers> keys, values, means;
      for (Index c = 0; c < closed && selected > 0; ++c) {
        Numbers mean(std::size_t(sample.width()), 0.0);
        for (Index a = 0; a < ratio; ++a)
          for (std::size_t w = 0; w < mean.size(); ++w)
            mean[w] += index.x(b, c * ratio + a)[w] / double(ratio);
        means.push_back(mean);
      }
      std::vector<Index> read(static_cast<std::size_t>(closed));
      std::iota(read.begin(), read.end(), 0);
      if (selected > 0) read = NaiveChosen::best(index.scores(b, t, means), selected);
      for (const Index c : read) {
        keys.push_back(pooled(1, b, h, c));
        values.push_back(pooled(2, b, h, c));
      }
      for (Index j = std::max<Index>(0, t - window + 1); j <= t; ++j) {
        keys.push_back(naive.key(1, b, h, j));
        values.push_back(naive.key(2, b, h, j));
      }
      const double sink = sinks ? double(parameters.at(1).parameter->data()[h]) : 0;
      naive.attend(b, h, t, keys, values, 1, out, sinks ? &sink : nullptr);
    });
    return out;
  };
}

}  // namespace weft::layers
