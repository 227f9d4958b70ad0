#pragma once

#include <cmath>

#include "tests/layers/attention_sample.h"

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

  Numbers forward(const AttentionSample& sample, const std::vector<Numbers>& in) const {
    const Sequences& s = sample.sequences();
    const Index width = sample.head_width(), columns = sample.width(), shift = s.keys - s.queries;
    const Real* keys = parameter(sample, "distance_keys").data();
    Numbers out(in[0].size(), 0.0);
    for (Index row = 0; row < s.batch * s.queries * sample.heads(); ++row) {
      const Index head = row % sample.heads(), token = row / sample.heads();
      const Index b = token / s.queries, place = token % s.queries + shift;
      const Index real = s.key_lengths ? (*s.key_lengths)[std::size_t(b)] : s.keys;
      const double z = reach(sample, in.back(), token, head);
      const auto at = [&](const Numbers& from, Index of, Index d) {
        return from[std::size_t(of * columns + head * width + d)];
      };
      double total = 0;
      Numbers sum(static_cast<std::size_t>(width), 0.0);
      for (Index j = std::max<Index>(0, place - span); j < std::min(place, real); ++j) {
        double score = 0;
        for (Index d = 0; d < width; ++d)
          score += at(in[0], token, d) *
                   (at(in[1], b * s.keys + j, d) + double(keys[(place - 1 - j) * width + d]));
        const double e = std::exp(score / std::sqrt(double(width)));
        const double m = share(z, place - 1 - j);
        total += (m + eps) * e;
        for (Index d = 0; d < width; ++d)
          sum[std::size_t(d)] += m * e * at(in[2], b * s.keys + j, d);
      }
      for (Index d = 0; total > 0 && d < width; ++d)
        out[std::size_t(token * columns + head * width + d)] = sum[std::size_t(d)] / total;
    }
    return out;
  }
};

inline auto span_oracle(const NaiveSpan& naive) {
  return [naive](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    return naive.forward(sample, inputs);
  };
}

}  // namespace weft::layers
