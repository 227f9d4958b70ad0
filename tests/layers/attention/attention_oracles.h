#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/chosen_oracles.h"
#include "tests/layers/attention/naive_dense.h"
#include "tests/layers/attention/naive_features.h"
#include "tests/layers/attention/naive_lsh.h"
#include "tests/layers/attention/naive_routing.h"
#include "tests/layers/attention/naive_rows.h"
#include "tests/layers/attention/naive_span.h"
#include "tests/layers/attention/pattern_oracles.h"
#include "tests/layers/attention/recurrence_oracles.h"
#include "tests/layers/attention/softmax_oracles.h"
#include "tests/layers/attention/sparse_oracles.h"

namespace weft::layers {

/// A mechanism written out in double: the sample's inputs, moved or not, -> [B queries, H D].
using Oracle = std::function<std::vector<double>(const AttentionSample&,
                                                 const std::vector<std::vector<double>>& inputs)>;

inline NaiveFeatures naive_features(const AttentionSample& sample) {
  return {sample.sequences(), sample.heads(), sample.head_width()};
}

/// Weights phi(q) . phi(k) with phi taken element by element.
inline NaiveFeatures::Weight elementwise_weight(double (*phi)(double)) {
  return [phi](const std::vector<double>& q, const std::vector<double>& k) {
    double total = 0;
    for (std::size_t d = 0; d < q.size(); ++d) total += phi(q[d]) * phi(k[d]);
    return total;
  };
}

inline std::vector<double> linear_oracle(const AttentionSample& sample,
                                         const std::vector<std::vector<double>>& inputs) {
  const auto elu_plus_one = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  return naive_features(sample).weighted(inputs[0], inputs[1], inputs[2],
                                         elementwise_weight(elu_plus_one), 1e-6);
}

inline std::vector<double> taylor_oracle(const AttentionSample& sample,
                                         const std::vector<std::vector<double>>& inputs) {
  const auto one_plus_cosine = [](const std::vector<double>& q, const std::vector<double>& k) {
    const auto dot = NaiveFeatures::dot;
    return 1 + dot(q, k) / std::sqrt(dot(q, q) * dot(k, k));
  };
  return naive_features(sample).weighted(inputs[0], inputs[1], inputs[2], one_plus_cosine, 1e-6);
}

inline std::vector<double> efficient_oracle(const AttentionSample& sample,
                                            const std::vector<std::vector<double>>& inputs) {
  return naive_features(sample).two_softmaxes(inputs[0], inputs[1], inputs[2]);
}

/// Weights sum_c phi(q)_c phi(k)_c, phi(x)_c = exp(w_c . x / D^(1/4) - |x|^2 / (2 sqrt(D))), with
/// the features w that the mechanism drew.
inline std::vector<double> performer_oracle(const AttentionSample& sample,
                                            const std::vector<std::vector<double>>& inputs) {
  const auto drawn = sample.inventory().states().at(0).state->value().read();
  const Index width = sample.head_width(), features = (Index(drawn.size()) - 1) / width;
  const auto weight = [&](const std::vector<double>& q, const std::vector<double>& k) {
    const double root = std::sqrt(double(width)), fourth = std::sqrt(root);
    const auto dot = NaiveFeatures::dot;
    double total = 0;
    for (Index c = 0; c < features; ++c) {
      double along = 0;
      for (Index d = 0; d < width; ++d)
        along += drawn[std::size_t(c * width + d)] * (q[std::size_t(d)] + k[std::size_t(d)]);
      total += std::exp(along / fourth - (dot(q, q) + dot(k, k)) / (2 * root));
    }
    return total / double(features);
  };
  return naive_features(sample).weighted(inputs[0], inputs[1], inputs[2], weight, 0);
}

/// Dense attention over E k and F v, the real rows only, with E and F as the mechanism drew them.
inline std::vector<double> linformer_oracle(const AttentionSample& sample,
                                            const std::vector<std::vector<double>>& inputs) {
  const Sequences& s = sample.sequences();
  const auto& parameters = sample.inventory().parameters();
  const Index slots = parameters.at(0).parameter->shape()[0];
  const Index longest = parameters.at(0).parameter->shape()[1], width = sample.width();
  std::vector<std::vector<double>> low;
  for (const std::size_t side : {0, 1}) {
    const Real* table = parameters.at(side).parameter->data();
    low.emplace_back(std::size_t(s.batch * slots * width), 0.0);
    for (Index b = 0; b < s.batch; ++b)
      for (Index j = 0; j < (s.key_lengths ? (*s.key_lengths)[std::size_t(b)] : s.keys); ++j)
        for (Index slot = 0; slot < slots; ++slot)
          for (Index d = 0; d < width; ++d)
            low.back()[std::size_t((b * slots + slot) * width + d)] +=
                double(table[slot * longest + j]) *
                inputs[side + 1][std::size_t((b * s.keys + j) * width + d)];
  }
  const NaiveDense naive{{s.batch, s.queries, slots, false},
                         sample.heads(),
                         sample.head_width(),
                         1 / std::sqrt(double(sample.head_width()))};
  return naive.forward(inputs[0], low[0], low[1]);
}

/// The naive twin of every mechanism in the registry, with default settings, and of the variants.
inline const std::map<std::string, Oracle>& attention_oracles() {
  static const std::map<std::string, Oracle> oracles = [] {
    std::map<std::string, Oracle> all = {
        {"longformer_global", longformer_global_oracle},
        {"lsh", lsh_oracle({})},
        {"lsh_small", lsh_oracle({3, 5, 6, true})},
        {"lsh_factorised", lsh_oracle({.chunk = 40, .buckets = 150})},
        {"routing", routing_oracle({})},
        {"routing_small", routing_oracle({3, 5})},
        {"routing_separate", routing_oracle({3, 5, false})},
        {"etc", NaiveEtc{}},
        {"etc_small", NaiveEtc{.window = 9, .clip = 3, .every = 5}},
        {"etc_hard", NaiveEtc{.window = 5, .clip = 2, .every = 4, .hard = true}},
        {"etc_unshared", NaiveEtc{.window = 7, .every = 11, .sets = 3}},
        {"bigbird_beside", NaiveEtc{.block = 16, .every = 9}},
        {"bigbird_beside_random", NaiveEtc{.block = 8, .clip = 5, .every = 20, .sets = 2}},
        {"bp", NaiveBp{}},
        {"bp_thin", NaiveBp{1, 2}},
        {"bp_wide", NaiveBp{7, 0}},
        {"fixed_span", span_oracle({})},
        {"fixed_span_narrow", span_oracle({.span = 9})},
        {"adaptive_span", span_oracle({.ramp = 32})},
        {"adaptive_span_narrow", span_oracle({.span = 50, .ramp = 7})},
        {"adaptive_span_eps", span_oracle({.span = 50, .ramp = 7, .eps = 0.01})},
        {"dynamic_span", span_oracle({.ramp = 32})},
        {"dynamic_span_narrow", span_oracle({.span = 90, .ramp = 11})},
        {"adaptive_span_shared", span_oracle({.span = 50, .ramp = 7})},
        {"forgetting", forgetting_oracle},
        {"differential", differential_oracle},
        {"differential_shared", differential_oracle},
        {"linear", linear_oracle},
        {"taylor", taylor_oracle},
        {"efficient", efficient_oracle},
        {"performer", performer_oracle},
        {"linformer", linformer_oracle},
        {"retention", retention_oracle},
        {"gla", gla_oracle},
        {"ssd", ssd_oracle},
        {"deltanet", deltanet_oracle(1, false)},
        {"gated_deltanet", deltanet_oracle(1, true)},
        {"gated_deltanet_negative", deltanet_oracle(2, true)},
        {"kda", kda_oracle(-5)},
        {"kda_unbounded", kda_oracle(0)},
        {"gdn2", gdn2_oracle}};
    for (const auto& [name, predicate_of] : pattern_predicates())
      all[name] = [&predicate_of](const AttentionSample& sample,
                                  const std::vector<std::vector<double>>& inputs) {
        return naive_pattern(sample, predicate_of(sample), inputs);
      };
    all.insert(sparse_twins().begin(), sparse_twins().end());
    all.insert(chosen_oracles().begin(), chosen_oracles().end());
    return all;
  }();
  return oracles;
}

}  // namespace weft::layers
