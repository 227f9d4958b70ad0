#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/layers/attention/attention_sample.h"

/// Mechanisms that choose blocks or tokens, written out in double one query at a time.
namespace weft::layers {

/// What is common to them: a sample and its inputs as [B T, heads D].
struct NaiveChosen {
  using Numbers = std::vector<double>;

  const AttentionSample& sample;
  const std::vector<Numbers>& inputs;

  Index length() const { return sample.sequences().queries; }
  Index real(Index b) const { return sample.sequences().real_keys(b); }
  Index width() const { return sample.head_width(); }
  double scale() const { return 1 / std::sqrt(double(width())); }
  Numbers empty() const {
    return Numbers(std::size_t(sample.sequences().batch * length() * sample.width()), 0.0);
  }

  Numbers query(Index b, Index h, Index t) const {
    const auto first = inputs[0].begin() + ((b * length() + t) * sample.heads() + h) * width();
    return {first, first + width()};
  }
  /// What head h reads of token t in an input of the keys' side.
  Numbers key(std::size_t input, Index b, Index h, Index t) const {
    const Index heads = sample.key_heads(input), own = h * heads / sample.heads();
    const auto first = inputs[input].begin() + ((b * length() + t) * heads + own) * width();
    return {first, first + width()};
  }
  /// The mean of tokens first .. first + count - 1.
  Numbers mean(std::size_t input, Index b, Index h, Index first, Index count) const {
    Numbers sum(std::size_t(width()), 0.0);
    for (Index t = first; t < first + count; ++t) {
      const Numbers x = key(input, b, h, t);
      for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += x[d] / double(count);
    }
    return sum;
  }
  static double dot(const Numbers& a, const Numbers& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

  /// Softmax of scores, with a logit without a value where there is one.
  static Numbers softmax(const Numbers& scores, const double* sink = nullptr) {
    double top = sink ? *sink : -std::numeric_limits<double>::infinity(), total = 0;
    for (const double s : scores) top = std::max(top, s);
    Numbers weights;
    for (const double s : scores) weights.push_back(std::exp(s - top));
    for (const double w : weights) total += w;
    if (sink) total += std::exp(*sink - top);
    for (double& w : weights) w /= total;
    return weights;
  }
  /// The numbers of the largest scores, of equal ones the later, ascending.
  static std::vector<Index> best(const Numbers& scores, Index count) {
    std::vector<Index> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](Index a, Index b) {
      const double x = scores[std::size_t(a)], y = scores[std::size_t(b)];
      return x > y || (x == y && a > b);
    });
    order.resize(std::size_t(std::min<Index>(count, Index(order.size()))));
    std::ranges::sort(order);
    return order;
  }

  /// Adds factor times what a query reads of keys and values that are written out.
  void attend(Index b, Index h, Index t, const std::vector<Numbers>& keys,
              const std::vector<Numbers>& values, double factor, Numbers& out,
              const double* sink = nullptr) const {
    Numbers scores;
    for (const Numbers& k : keys) scores.push_back(scale() * dot(query(b, h, t), k));
    const Numbers weights = softmax(scores, sink);
    for (std::size_t j = 0; j < values.size(); ++j)
      for (Index d = 0; d < width(); ++d)
        out[std::size_t(((b * length() + t) * sample.heads() + h) * width() + d)] +=
            factor * weights[j] * values[j][std::size_t(d)];
  }
  /// The same of the tokens up to t in some blocks.
  void attend_blocks(Index b, Index h, Index t, const std::vector<Index>& blocks, Index block,
                     double factor, Numbers& out, std::size_t of_keys = 1) const {
    std::vector<Numbers> keys, values;
    for (const Index c : blocks)
      for (Index j = c * block; j < std::min((c + 1) * block, t + 1); ++j) {
        keys.push_back(key(of_keys, b, h, j));
        values.push_back(key(of_keys + 1, b, h, j));
      }
    attend(b, h, t, keys, values, factor, out);
  }
  template <class Body>
  void for_each_real_query(const Body& body) const {
    for (Index b = 0; b < sample.sequences().batch; ++b)
      for (Index t = 0; t < real(b); ++t)
        for (Index h = 0; h < sample.heads(); ++h) body(b, h, t);
  }
};

/// The own block and those of the best mean keys among earlier ones.
inline auto moba_oracle(Index block, Index blocks) {
  return [=](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    const NaiveChosen naive{sample, inputs};
    std::vector<double> out = naive.empty();
    naive.for_each_real_query([&](Index b, Index h, Index t) {
      std::vector<double> scores;
      for (Index c = 0; c < t / block; ++c)
        scores.push_back(
            NaiveChosen::dot(naive.query(b, h, t), naive.mean(1, b, h, c * block, block)));
      std::vector<Index> chosen = NaiveChosen::best(scores, blocks - 1);
      chosen.push_back(t / block);
      naive.attend_blocks(b, h, t, chosen, block, 1, out);
    });
    return out;
  };
}

}  // namespace weft::layers
