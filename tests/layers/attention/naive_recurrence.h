#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/layers/attention/attention_sample.h"

namespace weft::layers {

/// The recurrent mechanisms written out in double, token by token, with the parameters that the
/// sample's mechanism has.  inputs: q, k, v, [B T, H D] each, and x, [B T, W]
class NaiveRecurrence {
 public:
  using Numbers = std::vector<double>;
  /// A number for each token (row) and column h D + c of the heads.
  using Gate = std::function<double(Index row, Index column)>;

  NaiveRecurrence(const AttentionSample& sample, const std::vector<Numbers>& inputs)
      : s_(sample.sequences()),
        heads_(sample.heads()),
        width_(sample.head_width()),
        columns_(sample.width()),
        inputs_(inputs) {
    for (const auto& [name, parameter] : sample.inventory().parameters())
      parameters_[name] = {parameter->value().read().begin(), parameter->value().read().end()};
  }

  /// While one lives, sums are left as the state gives them: values pass no convolution, and no
  /// norm or gate follows.
  struct SumsAlone {
    SumsAlone() { only_sums = true; }
    ~SumsAlone() { only_sums = false; }
  };
  static inline thread_local bool only_sums = false;

  static double logistic(double x) { return 1 / (1 + std::exp(-x)); }
  static double softplus(double x) { return std::log1p(std::exp(x)); }
  static double silu(double x) { return x * logistic(x); }
  static Gate constant(double value) {
    return [value](Index, Index) { return value; };
  }

  const Numbers& parameter(const std::string& name) const { return parameters_.at(name); }

  /// x through one matrix or two, `columns` of each token.
  Numbers map(const std::string& name, Index columns) const {
    const bool low = parameters_.contains(name + ".down");
    Numbers y = inputs_.back();
    if (low) y = product(y, parameter(name + ".down"), rank_of(name));
    y = product(y, parameter(name + (low ? ".up" : ".weight")), columns);
    if (parameters_.contains(name + ".bias"))
      for (std::size_t i = 0; i < y.size(); ++i)
        y[i] += parameter(name + ".bias")[i % std::size_t(columns)];
    return y;
  }
  /// A function of such numbers, one for each head or one for each column.
  Gate gate(const std::string& name, bool by_column,
            const std::function<double(double x, Index head)>& f) const {
    const Index each = by_column ? width_ : 1;
    return [this, each, f, y = map(name, heads_ * each)](Index row, Index column) {
      return f(y[std::size_t(row * heads_ * each + column / (width_ / each))], column / width_);
    };
  }

  /// Projection i, convolved where the mechanism has taps for it.
  Numbers block(std::size_t i) const {
    return convolved(inputs_[i], std::string("conv_") + "qkv"[i], columns_);
  }
  Numbers convolved(const Numbers& x, const std::string& name, Index columns) const {
    if (!parameters_.contains(name) || (only_sums && name == "conv_v")) return x;
    const Numbers& w = parameter(name);
    const auto bias = parameters_.find(name + "_bias");
    const Index taps = Index(w.size()) / columns;
    Numbers y(x.size());
    for (Index row = 0; row < s_.batch * s_.queries; ++row)
      for (Index c = 0; c < columns; ++c) {
        double z = bias == parameters_.end() ? 0 : bias->second[std::size_t(c)];
        for (Index a = 0; a < taps; ++a)
          if (const Index back = taps - 1 - a; row % s_.queries >= back)
            z += w[std::size_t(c * taps + a)] * x[std::size_t((row - back) * columns + c)];
        y[std::size_t(row * columns + c)] = silu(z);
      }
    return y;
  }
  Numbers unit(Numbers x) const {
    for (std::size_t first = 0; first < x.size(); first += std::size_t(width_)) {
      double squares = 1e-6;
      for (Index d = 0; d < width_; ++d) squares += std::pow(x[first + std::size_t(d)], 2);
      for (Index d = 0; d < width_; ++d) x[first + std::size_t(d)] /= std::sqrt(squares);
    }
    return x;
  }

  /// The rule, with e = erase k and w = write v.
  Numbers run(const Numbers& q, const Numbers& k, const Numbers& v, const Gate& decay,
              const Gate& write, const Gate& erase) const {
    Numbers out(q.size());
    const auto D = std::size_t(width_);
    for (Index b = 0; b < s_.batch; ++b)
      for (Index h = 0; h < heads_; ++h) {
        std::vector<Numbers> S(D, Numbers(D, 0.0));
        const Index real = s_.key_lengths ? (*s_.key_lengths)[std::size_t(b)] : s_.keys;
        for (Index t = 0; t < s_.queries; ++t) {
          const Index row = b * s_.queries + t, first = h * width_;
          if (t < real) write_token(S, row, first, k, v, decay, write, erase);
          for (std::size_t d = 0; d < D; ++d) {
            double sum = 0;
            for (std::size_t c = 0; c < D; ++c) sum += S[c][d] * q[at(row, first + Index(c))];
            out[at(row, first + Index(d))] = sum / std::sqrt(double(width_));
          }
        }
      }
    return out;
  }

  /// rms(o) gain a(gate)
  Numbers normalised(Numbers o, const std::function<double(double)>& activation) const {
    if (only_sums) return o;
    const Numbers gates = parameters_.contains("gate.weight") || parameters_.contains("gate.up")
                              ? map("gate", columns_)
                              : Numbers();
    for (std::size_t first = 0; first < o.size(); first += std::size_t(width_)) {
      double squares = 0;
      for (std::size_t i = first; i < first + std::size_t(width_); ++i) squares += o[i] * o[i];
      const double root = std::sqrt(squares / double(width_) + 1e-5);
      for (std::size_t i = first; i < first + std::size_t(width_); ++i)
        o[i] *= parameter("gain")[i - first] / root * (gates.empty() ? 1 : activation(gates[i]));
    }
    return o;
  }

 private:
  std::size_t at(Index row, Index column) const { return std::size_t(row * columns_ + column); }
  Index rank_of(const std::string& name) const {
    return Index(parameter(name + ".down").size()) / columns_;
  }
  /// x [N, n] times the transpose of a weight [out, n].
  static Numbers product(const Numbers& x, const Numbers& weight, Index out) {
    const std::size_t n = weight.size() / std::size_t(out), rows = x.size() / n;
    Numbers y(rows * std::size_t(out), 0.0);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t o = 0; o < std::size_t(out); ++o)
        for (std::size_t i = 0; i < n; ++i)
          y[r * std::size_t(out) + o] += x[r * n + i] * weight[o * n + i];
    return y;
  }

  void write_token(std::vector<Numbers>& S, Index row, Index first, const Numbers& k,
                   const Numbers& v, const Gate& decay, const Gate& write,
                   const Gate& erase) const {
    const auto D = std::size_t(width_);
    for (std::size_t c = 0; c < D; ++c)
      for (double& x : S[c]) x *= std::exp(decay(row, first + Index(c)));
    for (std::size_t d = 0; d < D; ++d) {
      const Index column = first + Index(d);
      double u = write(row, column) * v[at(row, column)];
      for (std::size_t c = 0; c < D; ++c)
        u -= S[c][d] * erase(row, first + Index(c)) * k[at(row, first + Index(c))];
      for (std::size_t c = 0; c < D; ++c) S[c][d] += k[at(row, first + Index(c))] * u;
    }
  }

  Sequences s_;
  Index heads_, width_, columns_;
  const std::vector<Numbers>& inputs_;
  std::map<std::string, Numbers> parameters_;
};

}  // namespace weft::layers
