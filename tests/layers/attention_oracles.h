#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/closeness.h"
#include "tests/layers/attention_sample.h"
#include "tests/layers/naive_dense.h"
#include "tests/layers/naive_lsh.h"
#include "tests/layers/naive_routing.h"

namespace weft::layers {

/// A mechanism written out in double: the sample's inputs, moved or not, -> [B queries, H D].
using Oracle = std::function<std::vector<double>(const AttentionSample&,
                                                 const std::vector<std::vector<double>>& inputs)>;

inline std::vector<double> dense_oracle(const AttentionSample& sample,
                                        const std::vector<std::vector<double>>& inputs) {
  const NaiveDense naive{sample.sequences(), sample.heads(), sample.head_width(),
                         1 / std::sqrt(double(sample.head_width()))};
  return naive.forward(inputs[0], inputs[1], inputs[2]);
}

/// The directions are those of the sample's training pass.
inline std::vector<double> lsh_oracle(const AttentionSample& sample,
                                      const std::vector<std::vector<double>>& inputs) {
  NaiveLsh naive;
  naive.buckets = std::max<Index>(2, (sample.sequences().keys + 63) / 64 / 2 * 2);
  const AngularHash hash = AngularHash::of(sample.head_width(), naive.rounds, naive.buckets);
  return naive.forward(sample, hash.draw(core::Rng(3).fold("hash"), sample.heads()), inputs);
}

/// The centroids are those that the sample's training pass starts with.
inline std::vector<double> routing_oracle(const AttentionSample& sample,
                                          const std::vector<std::vector<double>>& inputs) {
  const CentroidSettings settings{
      .heads = sample.heads(),
      .clusters = Index(std::lround(std::sqrt(double(sample.sequences().keys)))),
      .width = sample.head_width(),
      .form = {HeadForm::Law::standard, Real(1e-6)}};
  const NaiveRouting naive{Centroids::draw(settings, core::Rng(3).fold("centroids"))};
  return naive.forward(sample, inputs);
}

/// The naive twin of every mechanism in the registry, with default settings.
inline const std::map<std::string, Oracle>& attention_oracles() {
  static const std::map<std::string, Oracle> oracles = {
      {"dense", dense_oracle}, {"lsh", lsh_oracle}, {"routing", routing_oracle}};
  return oracles;
}

}  // namespace weft::layers
