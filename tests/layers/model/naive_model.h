#pragma once

#include <cmath>
#include <map>
#include <string>

#include "layers/settings/model_settings.h"
#include "tests/closeness.h"
#include "tests/layers/attention/naive_dense.h"
#include "tests/layers/drawn_weights.h"

/// The Transformer written out in double, from weights by name.
namespace weft::layers {

/// x weight^T + bias
inline Grid naive_linear(const Grid& x, const Grid& weight, const Grid& bias) {
  Grid y(x.rows, weight.rows);
  for (Index r = 0; r < y.rows; ++r)
    for (Index c = 0; c < y.cols; ++c) {
      y.at(r, c) = bias.numbers.empty() ? 0 : bias.at(0, c);
      for (Index k = 0; k < x.cols; ++k) y.at(r, c) += x.at(r, k) * weight.at(c, k);
    }
  return y;
}

inline Grid naive_norm(const Grid& x, const Grid& gain, const Grid& bias) {
  Grid y(x.rows, x.cols);
  for (Index r = 0; r < x.rows; ++r) {
    double mean = 0, variance = 0;
    for (Index c = 0; c < x.cols; ++c) mean += x.at(r, c) / double(x.cols);
    for (Index c = 0; c < x.cols; ++c)
      variance += (x.at(r, c) - mean) * (x.at(r, c) - mean) / double(x.cols);
    for (Index c = 0; c < x.cols; ++c)
      y.at(r, c) = (x.at(r, c) - mean) / std::sqrt(variance + 1e-5) * gain.at(0, c) + bias.at(0, c);
  }
  return y;
}

inline Grid naive_sum(Grid x, const Grid& y) {
  for (std::size_t i = 0; i < x.numbers.size(); ++i) x.numbers[i] += y.numbers[i];
  return x;
}

inline Grid columns_of(const Grid& x, Index first, Index count) {
  Grid y(x.rows, count);
  for (Index r = 0; r < y.rows; ++r)
    for (Index c = 0; c < count; ++c) y.at(r, c) = x.at(r, first + c);
  return y;
}

/// Columns t and t + D / 2 of every head turned by position * 10000^(-2t / D), as complex numbers.
inline Grid naive_turned(Grid x, Index head_width, Index length) {
  const Index half = head_width / 2;
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < x.cols; c += head_width)
      for (Index t = 0; t < half; ++t) {
        const double angle =
            double(r % length) * std::pow(10000.0, -2.0 * double(t) / double(head_width));
        const double a = x.at(r, c + t), b = x.at(r, c + t + half);
        x.at(r, c + t) = a * std::cos(angle) - b * std::sin(angle);
        x.at(r, c + t + half) = a * std::sin(angle) + b * std::cos(angle);
      }
  return x;
}

inline Grid naive_linear(const Weights& w, const std::string& name, const Grid& x) {
  return naive_linear(x, w.at(name + ".weight"), w.at(name + ".bias"));
}

/// By mean and deviation, or without a bias by the root mean square.
inline Grid naive_norm(const Weights& w, const std::string& name, const Grid& x) {
  if (w.contains(name + ".bias"))
    return naive_norm(x, w.at(name + ".weight"), w.at(name + ".bias"));
  Grid y = x;
  for (Index r = 0; r < x.rows; ++r) {
    double square = 0;
    for (Index c = 0; c < x.cols; ++c) square += x.at(r, c) * x.at(r, c) / double(x.cols);
    for (Index c = 0; c < x.cols; ++c)
      y.at(r, c) *= w.at(name + ".weight").at(0, c) / std::sqrt(square + 1e-5);
  }
  return y;
}

/// gelu(x W1 + b1) W2 + b2
inline Grid naive_feed_forward(const Weights& w, const std::string& prefix, const Grid& x) {
  Grid hidden = naive_linear(w, prefix + "in", x);
  for (double& z : hidden.numbers) z *= 0.5 * std::erfc(-z / std::sqrt(2.0));
  return naive_linear(w, prefix + "out", hidden);
}

/// Dense heads of one group: packed projections q, k, v.
inline Grid naive_heads(const Weights& w, const std::string& projection, const Grid& x,
                        const NaiveDense& dense, bool rotary) {
  const Grid packed = naive_linear(w, projection, x);
  const Index columns = dense.heads * dense.head_width;
  Grid q = columns_of(packed, 0, columns), k = columns_of(packed, columns, columns);
  const Grid v = columns_of(packed, 2 * columns, columns);
  if (rotary) {
    q = naive_turned(q, dense.head_width, dense.sequences.queries);
    k = naive_turned(k, dense.head_width, dense.sequences.queries);
  }
  Grid out(x.rows, columns);
  out.numbers = dense.forward(q.numbers, k.numbers, v.numbers);
  return out;
}

/// A layer's attention and feed-forward without norms and residuals.
struct NaiveSublayers {
  const Weights& w;
  std::string prefix;
  const NaiveDense& dense;
  bool rotary;

  Grid attend(const Grid& in) const {
    return naive_linear(w, prefix + "attention.output",
                        naive_heads(w, prefix + "attention.projection", in, dense, rotary));
  }
  Grid feed(const Grid& in) const { return naive_feed_forward(w, prefix + "feed_forward.", in); }
  Grid attention_norm(const Grid& x) const { return naive_norm(w, prefix + "attention_norm", x); }
  Grid feed_norm(const Grid& x) const { return naive_norm(w, prefix + "feed_forward_norm", x); }
};

inline Grid naive_block(const Weights& w, const std::string& prefix, const Grid& x,
                        const NaiveDense& dense, bool pre, bool rotary) {
  const NaiveSublayers f{w, prefix, dense, rotary};
  if (pre) {
    const Grid y = naive_sum(x, f.attend(f.attention_norm(x)));
    return naive_sum(y, f.feed(f.feed_norm(y)));
  }
  const Grid y = f.attention_norm(naive_sum(x, f.attend(x)));
  return f.feed_norm(naive_sum(y, f.feed(y)));
}

/// The average of a reversible stack's two streams, or both side by side.
inline Grid naive_streams(const ModelSettings& settings, const Weights& w, const Grid& x,
                          const NaiveDense& dense) {
  Grid first = x, second = x;
  for (Index i = 0; i < settings.layers; ++i) {
    const NaiveSublayers f{w, "layers." + std::to_string(i) + '.', dense,
                           settings.positions == PositionKind::rotary};
    first = naive_sum(first, f.attend(f.attention_norm(second)));
    second = naive_sum(second, f.feed(f.feed_norm(first)));
  }
  const bool both = settings.reversible_output == autograd::StreamOutput::concat;
  Grid y(x.rows, both ? 2 * x.cols : x.cols);
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < x.cols; ++c) {
      y.at(r, c) = both ? first.at(r, c) : (first.at(r, c) + second.at(r, c)) / 2;
      if (both) y.at(r, x.cols + c) = second.at(r, c);
    }
  return y;
}

/// What is added to a token at position p.
inline double naive_position(const Weights& w, PositionKind kind, Index p, Index c, Index width) {
  if (kind == PositionKind::learned) return w.at("positions.weight").at(p, c);
  if (kind == PositionKind::axial) {
    const Grid &rows = w.at("positions.rows"), &columns = w.at("positions.columns");
    return c < rows.cols ? rows.at(p / columns.rows, c)
                         : columns.at(p % columns.rows, c - rows.cols);
  }
  if (kind != PositionKind::sinusoidal) return 0;
  const double angle = double(p) / std::pow(10000.0, double(c - c % 2) / double(width));
  return c % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

/// The logits of every token: [B T, V]. All layers use dense attention.
inline Grid naive_logits(const ModelSettings& settings, const Weights& w,
                         const core::Tokens& tokens) {
  const Index length = tokens.shape()[1], width = settings.width;
  const Grid& table = w.at("tokens.weight");
  Grid x(tokens.size(), width);
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < width; ++c)
      x.at(r, c) = table.at(tokens.read()[std::size_t(r)], c) +
                   naive_position(w, settings.positions, r % length, c, width);
  const Index head_width = width / settings.heads;
  const NaiveDense dense{Sequences::self(tokens.shape()[0], length, true), settings.heads,
                         head_width, 1 / std::sqrt(double(head_width))};
  const bool pre = settings.norm_place == NormPlace::pre;
  if (settings.reversible) x = naive_streams(settings, w, x, dense);
  for (Index i = 0; i < settings.layers && !settings.reversible; ++i)
    x = naive_block(w, "layers." + std::to_string(i) + '.', x, dense, pre,
                    settings.positions == PositionKind::rotary);
  if (pre) x = naive_norm(w, "final_norm", x);
  return naive_linear(x, settings.tie ? table : w.at("output.weight"), Grid(0, 0));
}

}  // namespace weft::layers
