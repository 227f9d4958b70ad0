#pragma once

#include <cmath>

#include "layers/parts/experts/expert_feed_forward.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers {

/// One expert over one row.
inline std::vector<double> naive_expert(const Weights& w, Index expert, const Grid& x, Index row) {
  const Index W = x.cols, F = w.at("in.bias").cols / w.at("router.weight").rows;
  std::vector<double> y(std::size_t(W), 0);
  for (Index c = 0; c < W; ++c) y[std::size_t(c)] = w.at("out.bias").at(0, expert * W + c);
  for (Index f = 0; f < F; ++f) {
    double h = w.at("in.bias").at(0, expert * F + f);
    for (Index c = 0; c < W; ++c)
      h += x.at(row, c) * w.at("in.weight").numbers[std::size_t((expert * F + f) * W + c)];
    const double open = h * 0.5 * std::erfc(-h / std::sqrt(2.0));
    for (Index c = 0; c < W; ++c)
      y[std::size_t(c)] += open * w.at("out.weight").numbers[std::size_t((expert * W + c) * F + f)];
  }
  return y;
}

/// Token by token, without capacity: the most probable experts, weighed.
inline Grid naive_experts(const Weights& w, const Grid& x, Index choices) {
  const Index experts = w.at("router.weight").rows;
  Grid y(x.rows, x.cols), logits = naive_linear(x, w.at("router.weight"), Grid(0, 0));
  for (Index r = 0; r < x.rows; ++r) {
    double all = 0, chosen = 0;
    std::vector<std::pair<double, Index>> ranked;
    for (Index e = 0; e < experts; ++e) {
      const double p = std::exp(logits.at(r, e));
      ranked.emplace_back(-p, e);
      all += p;
    }
    std::ranges::sort(ranked);
    for (Index c = 0; c < choices; ++c) chosen -= ranked[std::size_t(c)].first;
    for (Index c = 0; c < choices; ++c) {
      const auto [minus_p, e] = ranked[std::size_t(c)];
      const std::vector<double> out = naive_expert(w, e, x, r);
      for (Index i = 0; i < x.cols; ++i)
        y.at(r, i) += -minus_p / (choices > 1 ? chosen : all) * out[std::size_t(i)];
    }
  }
  return y;
}

}  // namespace weft::layers
