#pragma once

#include "tests/layers/attention/pattern_oracles.h"

namespace weft::layers {

/// The alphas of a mechanism that learns them: 1 + sigmoid of its only parameter.
inline std::vector<double> learned_alphas(const AttentionSample& sample) {
  std::vector<double> alphas;
  for (const Real a : sample.inventory().parameters().at(0).parameter->value().read())
    alphas.push_back(std::max(1.01, 1 + 1 / (1 + std::exp(-double(a)))));
  return alphas;
}

/// What the mechanisms under a sparse normaliser read, and their alpha; 0 where it is learned.
struct SparseTwin {
  PredicateOf predicate_of;
  double alpha;

  std::vector<double> operator()(const AttentionSample& sample,
                                 const std::vector<std::vector<double>>& inputs) const {
    const std::vector<double> fixed(std::size_t(sample.heads()), alpha);
    return naive_pattern(sample, predicate_of(sample), inputs, 0,
                         alpha == 0 ? learned_alphas(sample) : fixed);
  }
};

inline const std::map<std::string, SparseTwin>& sparse_twins() {
  static const std::map<std::string, SparseTwin> twins = {
      {"dense_sparsemax", {pattern_predicates().at("dense"), 2}},
      {"local_entmax", {pattern_predicates().at("local_narrow"), 1.25}},
      {"dense_learned_alpha", {pattern_predicates().at("dense"), 0}},
      {"local_sparsemax", {pattern_predicates().at("local_narrow"), 2}},
      {"pattern_entmax15", {pattern_predicates().at("pattern_union"), 1.5}},
      {"random_learned_alpha", {pattern_predicates().at("random_small"), 0}}};
  return twins;
}

}  // namespace weft::layers
