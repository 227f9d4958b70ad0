#pragma once

#include <cmath>

#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/naive_dense.h"

namespace weft::layers {

/// Softmax over scores that lose ln logistic(x W + b) of every token after the key.
inline std::vector<double> forgetting_oracle(const AttentionSample& sample,
                                             const std::vector<std::vector<double>>& inputs) {
  const auto& parameters = sample.inventory().parameters();
  const auto weight = parameters.at(0).parameter->value().read();
  const auto start = parameters.at(1).parameter->value().read();
  const auto decay = [&](Index token, Index head) {
    const auto W = std::size_t(sample.width());
    double z = start[std::size_t(head)];
    for (std::size_t w = 0; w < W; ++w)
      z += double(weight[std::size_t(head) * W + w]) * inputs.back()[std::size_t(token) * W + w];
    return -std::log1p(std::exp(-z));
  };
  NaiveDense naive{sample.sequences(), sample.heads(), sample.head_width(),
                   1 / std::sqrt(double(sample.head_width()))};
  const Index length = sample.sequences().queries;
  std::vector<double> sums;  // [B T, H]
  for (Index t = 0; t < sample.sequences().batch * length; ++t)
    for (Index h = 0; h < sample.heads(); ++h)
      sums.push_back((t % length > 0 ? sums[sums.size() - std::size_t(sample.heads())] : 0) +
                     decay(t, h));
  const auto sum = [&](Index b, Index h, Index t) {
    return sums[std::size_t((b * length + t) * sample.heads() + h)];
  };
  naive.bias = [&](Index b, Index h, Index i, Index j) { return sum(b, h, i) - sum(b, h, j); };
  return naive.forward(inputs[0], inputs[1], inputs[2]);
}

/// Two softmaxes for each head, the second times logistic(x W) taken off the first.
inline std::vector<double> differential_oracle(const AttentionSample& sample,
                                               const std::vector<std::vector<double>>& inputs) {
  const auto weight = sample.inventory().parameters().at(0).parameter->value().read();
  const Index heads = sample.heads(), width = sample.head_width();
  NaiveDense naive{sample.sequences(), 2 * heads, width, 1 / std::sqrt(double(width))};
  naive.key_heads = sample.key_heads();
  const std::vector<double> both = naive.forward(inputs[0], inputs[1], inputs[2]);
  std::vector<double> out(both.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto W = std::size_t(sample.width()), D = std::size_t(width);
    const std::size_t token = i / W, head = i % W / D, d = i % D;
    double z = 0;
    for (std::size_t w = 0; w < W; ++w)
      z += double(weight[head * W + w]) * inputs.back()[token * W + w];
    const std::size_t first = token * 2 * W + 2 * head * D + d;
    out[i] = both[first] - both[first + D] / (1 + std::exp(-z));
  }
  return out;
}

}  // namespace weft::layers
