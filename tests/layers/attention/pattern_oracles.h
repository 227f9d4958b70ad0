#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "layers/attention/drawn/attention.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/naive_dense.h"

namespace weft::layers {

/// Whether head h's query i reads key j, before causality and padding.
using Predicate = std::function<bool(Index h, Index i, Index j)>;

/// The logits of its sinks; none where it has none.
inline std::vector<double> sinks_of(const AttentionSample& sample) {
  for (const auto& [name, parameter] : sample.inventory().parameters())
    if (name == "sinks") return tests::in_double(parameter->value().read());
  return {};
}

inline std::vector<double> naive_pattern(const AttentionSample& sample, const Predicate& predicate,
                                         const std::vector<std::vector<double>>& inputs,
                                         std::size_t first = 0, std::vector<double> alphas = {}) {
  NaiveDense naive{sample.sequences(),  sample.heads(),
                   sample.head_width(), 1 / std::sqrt(double(sample.head_width())),
                   predicate,           std::move(alphas)};
  naive.key_heads = sample.key_heads(first + 1);
  naive.sinks = sinks_of(sample);
  return naive.forward(inputs[first], inputs[first + 1], inputs[first + 2]);
}

inline Predicate window_predicate(const AttentionSample& sample, Index window, Index dilation = 1) {
  const bool causal = sample.sequences().causal;
  const Index left = causal ? window - 1 : window / 2, right = causal ? 0 : (window - 1) / 2;
  return [=](Index, Index i, Index j) {
    return (i - j) % dilation == 0 && i - j <= left * dilation && j - i <= right * dilation;
  };
}

inline Predicate block_predicate(Index block, Index back) {
  return [=](Index, Index i, Index j) {
    return j / block <= i / block && j / block >= i / block - back;
  };
}

inline Index length_of(const AttentionSample& sample) {
  return std::max(sample.sequences().queries, sample.sequences().keys);
}

inline Index root_stride(const AttentionSample& sample) {
  return std::max<Index>(1, std::llround(std::sqrt(double(length_of(sample)))));
}

inline Predicate fixed_predicate(Index stride, Index columns, bool sub_blocks) {
  return [=](Index h, Index i, Index j) {
    const Index end = stride - (sub_blocks ? h % (stride / columns) * columns : 0);
    const Index column = j % stride;
    return j <= i && (i / stride == j / stride || (column < end && column >= end - columns));
  };
}

inline Predicate global_predicate(std::set<Index> positions, Predicate beside) {
  return [=](Index h, Index i, Index j) {
    return positions.contains(i) || positions.contains(j) || beside(h, i, j);
  };
}

/// Whether the drawn table lists j's block for i's.
inline Predicate drawn_predicate(const AttentionSample& sample, Index block) {
  const Tensor table = dynamic_cast<const DrawnAttention&>(sample.attention()).drawn().table();
  return [=](Index h, Index i, Index j) {
    const Index blocks = table.shape()[1], count = table.shape()[2];
    const Real* row = table.data() + (h * blocks + i / block) * count;
    return std::find(row, row + count, Real(j / block)) != row + count;
  };
}

inline Predicate bigbird_predicate(const AttentionSample& sample, Index block) {
  const Index last = (length_of(sample) - 1) / block;
  const bool causal = sample.sequences().causal;
  return [=, drawn = drawn_predicate(sample, block)](Index h, Index i, Index j) {
    const Index from = i / block, to = j / block;
    const bool ends = from == 0 || to == 0 || (!causal && (from == last || to == last));
    return ends || std::abs(from - to) <= 1 || drawn(h, i, j);
  };
}

inline std::vector<double> longformer_global_oracle(
    const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
  const std::set<Index> tokens = {0, 9, 10};
  const Predicate wide = window_predicate(sample, 16, 3), near = window_predicate(sample, 16);
  auto out = naive_pattern(
      sample,
      [&](Index h, Index i, Index j) {
        return !tokens.contains(i) && (tokens.contains(j) || (h < 1 ? wide : near)(h, i, j));
      },
      inputs);
  const auto rows = naive_pattern(
      sample, [&](Index, Index i, Index) { return tokens.contains(i); }, inputs, 3);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += rows[i];
  return out;
}

inline bool pattern_union(Index i, Index j) {
  const Index d = i - j;
  const auto dilated = [&](Index left, Index gap) {
    return d % gap == 0 && d >= 0 && d <= left * gap;
  };
  const auto global = [](Index p) { return p == 3 || p == 17; };
  return dilated(5, 3) || dilated(9, 6) || (d <= 6 && d >= -2) || global(i) || global(j);
}

using PredicateOf = std::function<Predicate(const AttentionSample&)>;

/// What each position-based mechanism reads, as plain arithmetic on positions.
inline const std::map<std::string, PredicateOf>& pattern_predicates() {
  using S = AttentionSample;
  static const std::map<std::string, PredicateOf> predicates = {
      {"dense", [](const S&) { return Predicate(); }},
      {"dense_shared", [](const S&) { return Predicate(); }},
      {"pattern", [](const S&) { return Predicate(); }},
      {"pattern_union",
       [](const S&) { return [](Index, Index i, Index j) { return pattern_union(i, j); }; }},
      {"pattern_sink",
       [](const S&) { return [](Index, Index i, Index j) { return pattern_union(i, j); }; }},
      {"local", [](const S& s) { return window_predicate(s, 256); }},
      {"local_narrow", [](const S& s) { return window_predicate(s, 9); }},
      {"local_sinks",
       [](const S& s) {
         return [near = window_predicate(s, 9)](Index h, Index i, Index j) {
           return j < 3 || near(h, i, j);
         };
       }},
      {"local_block", [](const S&) { return block_predicate(32, 1); }},
      {"dilated", [](const S& s) { return window_predicate(s, 64, 4); }},
      {"strided",
       [](const S& s) {
         return [l = root_stride(s)](Index, Index i, Index j) {
           return j <= i && (i - j < l || (i - j) % l == 0);
         };
       }},
      {"strided_separate",
       [](const S& s) {
         return [half = (s.heads() + 1) / 2](Index h, Index i, Index j) {
           return j <= i && (h < half ? i - j < 8 : (i - j) % 8 == 0);
         };
       }},
      {"strided_shared",
       [](const S& s) {
         return [half = (s.heads() + 1) / 2](Index h, Index i, Index j) {
           return j <= i && (h < half ? i - j < 8 : (i - j) % 8 == 0);
         };
       }},
      {"fixed",
       [](const S& s) {
         const Index l = root_stride(s);
         return fixed_predicate(l, std::min<Index>(4, l), false);
       }},
      {"fixed_sub_blocks", [](const S&) { return fixed_predicate(16, 4, true); }},
      {"global", [](const S& s) { return global_predicate({0}, window_predicate(s, 1)); }},
      {"global_scattered",
       [](const S& s) {
         return global_predicate({0, 5, 6, 40}, window_predicate(s, 4));
       }},
      {"random",
       [](const S& s) {
         return [own = block_predicate(64, 0), drawn = drawn_predicate(s, 64)](
                    Index h, Index i, Index j) { return own(h, i, j) || drawn(h, i, j); };
       }},
      {"random_small",
       [](const S& s) {
         return [own = block_predicate(16, 0), drawn = drawn_predicate(s, 16)](
                    Index h, Index i, Index j) { return own(h, i, j) || drawn(h, i, j); };
       }},
      {"longformer", [](const S& s) { return window_predicate(s, 512); }},
      {"bigbird", [](const S& s) { return bigbird_predicate(s, 64); }},
      {"bigbird_small", [](const S& s) { return bigbird_predicate(s, 16); }},
  };
  return predicates;
}

}  // namespace weft::layers
