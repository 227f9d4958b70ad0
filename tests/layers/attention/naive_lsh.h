#pragma once

#include "layers/attention/clusters/angular_hash.h"
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/naive_listed.h"

namespace weft::layers {

/// x / sqrt(|x|² + eps) of each head.  x: [tokens, H D]
inline std::vector<double> naive_unit(const std::vector<double>& x, Index width, double eps) {
  std::vector<double> y = x;
  for (std::size_t first = 0; first < x.size(); first += std::size_t(width)) {
    double squares = eps;
    for (std::size_t d = first; d < first + std::size_t(width); ++d) squares += x[d] * x[d];
    for (std::size_t d = first; d < first + std::size_t(width); ++d) y[d] /= std::sqrt(squares);
  }
  return y;
}

/// LSH attention with default settings but for those named here, in double.
struct NaiveLsh {
  Index rounds = 4, chunk = 64, buckets = 0;
  bool dedup = false;

  /// The bucket of one head of one token in one round, by sorting all projections.
  /// x: [B T, H D]
  Index bucket(const std::vector<double>& x, const AngularHash& hash, const Tensor& directions,
               Index row, Index heads, Index head, Index round) const {
    const Index width = hash.head_width, columns = hash.rounds * hash.directions();
    const auto largest = [&](Index first, Index count) {
      Index best = 0;
      double top = -1e300;
      for (Index c = 0; c < 2 * count; ++c) {
        double y = 0;
        for (Index d = 0; d < width; ++d)
          y += x[std::size_t((row * heads + head) * width + d)] *
               double(directions.read()[std::size_t(
                   (head * width + d) * columns + round * hash.directions() + first + c % count)]);
        if (c >= count) y = -y;
        if (y > top) top = y, best = c;
      }
      return best;
    };
    const Index low = largest(0, hash.first / 2);
    return hash.second == 0 ? low : low + hash.first * largest(hash.first / 2, hash.second / 2);
  }

  std::vector<double> forward(const AttentionSample& sample, const Tensor& directions,
                              const std::vector<std::vector<double>>& inputs) const {
    const Sequences& s = sample.sequences();
    const Index heads = sample.heads(), width = sample.head_width();
    const AngularHash hash = AngularHash::of(width, rounds, buckets);
    const std::vector<double> unmoved = tests::in_double(sample.inputs()[0].read());
    // By lane, round and token; padding stays in no bucket.
    std::vector<std::vector<std::vector<Index>>> groups;
    for (Index lane = 0; lane < s.batch * heads; ++lane) {
      const Index b = lane / heads;
      const Index real = s.key_lengths ? (*s.key_lengths)[std::size_t(b)] : s.keys;
      auto& of_lane = groups.emplace_back();
      for (Index r = 0; r < rounds; ++r) {
        auto& of_round = of_lane.emplace_back();
        for (Index t = 0; t < real; ++t)
          of_round.push_back(
              bucket(unmoved, hash, directions, b * s.keys + t, heads, lane % heads, r));
      }
    }
    const NaiveListed naive{
        s,
        heads,
        width,
        1,
        [&](Index lane, Index i) {
          std::vector<Index> all;
          for (const auto& group : groups[std::size_t(lane)]) {
            if (i >= Index(group.size())) continue;
            for (const Index j : aligned_reads(group, i, chunk, s.causal, false)) all.push_back(j);
          }
          return all;
        },
        dedup};
    return naive.forward(inputs[0], naive_unit(inputs[0], width, 1e-6 * double(width)), inputs[1]);
  }
};

/// The naive twin under given settings; 0 buckets stand for length / chunk. The directions are
/// those of the sample's training pass.
inline auto lsh_oracle(NaiveLsh naive) {
  return [naive](const AttentionSample& sample, const std::vector<std::vector<double>>& inputs) {
    NaiveLsh own = naive;
    if (own.buckets == 0)
      own.buckets =
          std::max<Index>(2, (sample.sequences().keys + own.chunk - 1) / own.chunk / 2 * 2);
    const AngularHash hash = AngularHash::of(sample.head_width(), own.rounds, own.buckets);
    return own.forward(sample, hash.draw(core::Rng(3).fold("hash"), sample.heads()), inputs);
  };
}

}  // namespace weft::layers
