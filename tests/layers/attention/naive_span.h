#pragma once

#include <cmath>

#include "tests/layers/attention/attention_sample.h"

namespace weft::layers {

/// Attention over the keys before a token, written out in double over the whole span, with nothing
/// trimmed:
///   weight = m e^s / sum (m + eps) e^s,   s = q . (k + p_x) / sqrt(D),   m = clamp((R + z - x) /
///   R)
/// where x counts keys back from the nearest one.
struct NaiveSpan {
  Index span = 1024;
  double ramp = 0;  ///< 0: every key of the span counts wholly
  double eps = 0;
  Index moved_head = 0;  ///< whose reach, as a share of the span, is moved by this much
  double moved_by = 0;

  using Numbers = std::vector<double>;

  /// A parameter of the sample, by the beginning of its name.
  static const autograd::Parameter& parameter(const AttentionSample& sample,
                                              const std::string& name) {
    for (const auto& named : sample.inventory().parameters())
      if (named.name.starts_with(name)) return *named.parameter;
    throw core::Error("no parameter " + name);
  }

  /// z of a token and head: learned, chosen for the token, or the whole span.
  double reach(const AttentionSample& sample, const Numbers& x, Index token, Index head) const {
    const auto& named = sample.inventory().parameters();
    if (named.size() == 1) return double(span);
    if (named.size() == 2) {
      const double share = parameter(sample, "reach").value().read()[std::size_t(head)];
      return double(span) * (share + (head == moved_head ? moved_by : 0));
    }
    const Real* weight = parameter(sample, "reach_weight").data() + head * sample.width();
    double logit = parameter(sample, "reach_bias").value().read()[std::size_t(head)];
    for (Index w = 0; w < sample.width(); ++w)
      logit += double(weight[w]) * x[std::size_t(token * sample.width() + w)];
    return double(span) / (1 + std::exp(-logit));
  }

  double share(double z, Index x) const {
    return ramp > 0 ? std::clamp((ramp + z - double(x)) / ramp, 0.0, 1.0) : 1;
  }

  /// m e^s / sum (m + eps) e^s of the keys that a row reads, its m, and e^s / sum (m + eps) e^s.
  struct Key {
    Index row;
    double weight, m, mass;
  };
  std::vector<Key> keys_of(const AttentionSample& sample, const std::vector<Numbers>& in,
                           Index token, Index head) const {
    const Sequences& s = sample.sequences();
    const Index width = sample.head_width(), columns = sample.width();
    const Index b = token / s.queries, place = token % s.queries + s.keys - s.queries;
    const Index real = s.key_lengths ? (*s.key_lengths)[std::size_t(b)] : s.keys;
    const Real* distances = parameter(sample, "distance_keys").data();
    const double z = reach(sample, in.back(), token, head);
    std::vector<Key> keys;
    double total = 0;
    for (Index j = std::max<Index>(0, place - span); j < std::min(place, real); ++j) {
      double score = 0;
      for (Index d = 0; d < width; ++d)
        score += in[0][std::size_t(token * columns + head * width + d)] *
                 (in[1][sample.key_place(b * s.keys + j, head, d)] +
                  double(distances[(place - 1 - j) * width + d]));
      const double e = std::exp(score / std::sqrt(double(width))), m = share(z, place - 1 - j);
      keys.push_back({b * s.keys + j, m * e, m, e});
      total += (m + eps) * e;
    }
    if (total == 0) return {};
    for (Key& key : keys) key.weight /= total, key.mass /= total;
    return keys;
  }

  /// The gradient of a head's reach in keys, of a loss with these output gradients: a key pulls at
  /// it where m is in the clamp's range, ends included.
  double reach_gradient(const AttentionSample& sample, const std::vector<Numbers>& in,
                        const Numbers& dout, Index head) const {
    const Index width = sample.head_width(), columns = sample.width();
    const Sequences& s = sample.sequences();
    double gradient = 0;
    for (Index token = 0; token < s.batch * s.queries; ++token) {
      const auto keys = keys_of(sample, in, token, head);
      const auto pull = [&](Index row) {
        double sum = 0;
        for (Index d = 0; d < width; ++d)
          sum += dout[std::size_t(token * columns + head * width + d)] *
                 in[2][sample.key_place(row, head, d)];
        return sum;
      };
      const double z = reach(sample, in.back(), token, head);
      double mean = 0;
      for (const Key& key : keys) mean += key.weight * pull(key.row);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const double x = double(keys.size() - 1 - i);
        if (x >= z && x <= z + ramp) gradient += keys[i].mass * (pull(keys[i].row) - mean) / ramp;
      }
    }
    return gradient;
  }

  Numbers forward(const AttentionSample& sample, const std::vector<Numbers>& in) const {
    const Sequences& s = sample.sequences();
    const Index width = sample.head_width(), columns = sample.width();
    Numbers out(in[0].size(), 0.0);
    for (Index token = 0; token < s.batch * s.queries; ++token)
      for (Index head = 0; head < sample.heads(); ++head)
        for (const Key& key : keys_of(sample, in, token, head))
          for (Index d = 0; d < width; ++d)
            out[std::size_t(token * columns + head * width + d)] +=
                key.weight * in[2][sample.key_place(key.row, head, d)];
    return out;
  }
};

inline auto span_oracle(const NaiveSpan& naive) {
  return [naive](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    return naive.forward(sample, inputs);
  };
}

}  // namespace weft::layers
