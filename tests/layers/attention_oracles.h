#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/closeness.h"
#include "tests/layers/attention_sample.h"
#include "tests/layers/naive_lsh.h"
#include "tests/layers/naive_routing.h"
#include "tests/layers/pattern_oracles.h"

namespace weft::layers {

/// A mechanism written out in double: the sample's inputs, moved or not, -> [B queries, H D].
using Oracle = std::function<std::vector<double>(const AttentionSample&,
                                                 const std::vector<std::vector<double>>& inputs)>;

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
        {"routing_separate", routing_oracle({3, 5, false})}};
    for (const auto& [name, predicate_of] : pattern_predicates())
      all[name] = [&predicate_of](const AttentionSample& sample,
                                  const std::vector<std::vector<double>>& inputs) {
        return naive_pattern(sample, predicate_of(sample), inputs);
      };
    return all;
  }();
  return oracles;
}

}  // namespace weft::layers
