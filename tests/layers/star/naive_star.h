#pragma once

#include <algorithm>
#include <cmath>

#include "layers/star/star_stack.h"
#include "tests/layers/drawn_weights.h"

namespace weft::layers {

/// A Star-Transformer of one sequence without padding, by its formulas.
class NaiveStar {
 public:
  NaiveStar(const StarStack::Shape& shape, const StarSettings& settings, Weights weights)
      : shape_(shape), settings_(settings), weights_(std::move(weights)) {}

  /// x: [n, W] -> [n + 1, W], the relay first
  Grid run(const Grid& x) const {
    const Index n = x.rows;
    Grid h = x, s(1, x.cols);
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < x.cols; ++c) s.at(0, c) += x.at(i, c) / double(n);
    for (Index t = 0; t < shape_.cycles; ++t) {
      const std::string cycle = "cycles." + std::to_string(settings_.tie ? 0 : t);
      h = satellites(cycle + ".ring", h, x, s);
      Grid all(0, x.cols);
      append(all, s, 0);
      for (Index i = 0; i < n; ++i) append(all, h, i);
      const std::string part = cycle + ".relay";
      s = finish(part,
                 attend(row(linear(part + ".queries", s), 0), linear(part + ".keys_values", all)));
    }
    Grid out(0, x.cols);
    append(out, s, 0);
    for (Index i = 0; i < n; ++i) append(out, h, i);
    return out;
  }

 private:
  static void append(Grid& to, const Grid& from, Index r) {
    ++to.rows;
    for (Index c = 0; c < from.cols; ++c) to.numbers.push_back(from.at(r, c));
  }
  static Grid row(const Grid& from, Index r) {
    Grid one(0, from.cols);
    append(one, from, r);
    return one;
  }

  Grid linear(const std::string& name, const Grid& x) const {
    const Grid &w = weights_.at(name + ".weight"), &b = weights_.at(name + ".bias");
    Grid y(x.rows, w.rows);
    for (Index r = 0; r < x.rows; ++r)
      for (Index o = 0; o < w.rows; ++o) {
        y.at(r, o) = b.at(0, o);
        for (Index i = 0; i < x.cols; ++i) y.at(r, o) += x.at(r, i) * w.at(o, i);
      }
    return y;
  }

  Grid norm(const std::string& name, const Grid& x) const {
    const Grid &gain = weights_.at(name + ".weight"), &shift = weights_.at(name + ".bias");
    Grid y = x;
    for (Index r = 0; r < x.rows; ++r) {
      double mean = 0, square = 0;
      for (Index c = 0; c < x.cols; ++c) mean += x.at(r, c) / double(x.cols);
      for (Index c = 0; c < x.cols; ++c)
        square += (x.at(r, c) - mean) * (x.at(r, c) - mean) / double(x.cols);
      for (Index c = 0; c < x.cols; ++c)
        y.at(r, c) =
            (x.at(r, c) - mean) / std::sqrt(square + 1e-5) * gain.at(0, c) + shift.at(0, c);
    }
    return y;
  }

  /// keys: [m, 2 W], beside their values
  Grid attend(const Grid& q, const Grid& keys) const {
    const Index d = q.cols / shape_.heads;
    Grid out(1, q.cols);
    for (Index head = 0; head < shape_.heads; ++head) {
      std::vector<double> p;
      double total = 0;
      for (Index j = 0; j < keys.rows; ++j) {
        double score = 0;
        for (Index c = head * d; c < (head + 1) * d; ++c) score += q.at(0, c) * keys.at(j, c);
        p.push_back(std::exp(score / std::sqrt(double(d))));
        total += p.back();
      }
      for (Index j = 0; j < keys.rows; ++j)
        for (Index c = head * d; c < (head + 1) * d; ++c)
          out.at(0, c) += p[std::size_t(j)] / total * keys.at(j, q.cols + c);
    }
    return out;
  }

  Grid finish(const std::string& part, const Grid& heads) const {
    Grid y = linear(part + ".output", heads);
    const bool reference = settings_.norm == StarNorm::reference;
    for (double& number : y.numbers)
      if (number < 0) number *= reference ? 0.01 : 0;
    return reference ? y : norm(part + ".norm", y);
  }

  /// Neighbours as a set of numbers; those beyond the ends are -1 where zeros stand there.
  std::vector<Index> around(Index i, Index n) const {
    std::vector<Index> all;
    for (const Index j : {i - 1, i, i + 1}) {
      Index own = j;
      if (settings_.ring == StarRing::cyclic) own = (j + n) % n;
      if (own < 0 || own >= n) {
        if (settings_.ring == StarRing::zero) all.push_back(-1);
      } else if (std::ranges::find(all, own) == all.end()) {
        all.push_back(own);
      }
    }
    return all;
  }

  Grid satellites(const std::string& part, const Grid& h, const Grid& x, const Grid& s) const {
    const Grid read = settings_.norm == StarNorm::reference ? norm(part + ".norm", h) : h;
    const Grid q = linear(part + ".queries", read), own = linear(part + ".keys_values", read);
    const Grid embedded = linear(part + ".keys_values", x),
               relay = linear(part + ".keys_values", s);
    const Grid zeros(1, own.cols);
    Grid next(0, h.cols);
    for (Index i = 0; i < h.rows; ++i) {
      Grid keys(0, own.cols);
      for (const Index j : around(i, h.rows))
        append(keys, j < 0 ? zeros : own, std::max<Index>(j, 0));
      append(keys, embedded, i);
      append(keys, relay, 0);
      append(next, finish(part, attend(row(q, i), keys)), 0);
    }
    return next;
  }

  StarStack::Shape shape_;
  StarSettings settings_;
  Weights weights_;
};

}  // namespace weft::layers
