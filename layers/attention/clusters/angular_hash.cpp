#include "layers/attention/clusters/angular_hash.h"

#include <cmath>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

/// The place of the largest number of [y ; -y], the first of equals.
Index largest_of_both_signs(const Real* y, Index n) {
  Index best = 0, lowest = 0;
  for (Index i = 1; i < n; ++i) {
    if (y[i] > y[best]) best = i;
    if (y[i] < y[lowest]) lowest = i;
  }
  return -y[lowest] > y[best] ? n + lowest : best;
}

}  // namespace

AngularHash AngularHash::of(Index head_width, Index rounds, Index buckets) {
  constexpr Index most_in_one_part = 128;
  AngularHash hash{.head_width = head_width, .rounds = rounds, .first = buckets};
  if (buckets <= most_in_one_part) return hash;
  hash.first = Index(1) << Index(std::ceil(std::log2(std::sqrt(double(buckets)))));
  hash.second = 2 * (buckets / (2 * hash.first));
  return hash;
}

Tensor AngularHash::draw(const core::Rng& stream, Index heads) const {
  Tensor numbers({heads, head_width, rounds * directions()});
  const Index per_head = numbers.size() / heads;
  Real* to = numbers.write().data();
  core::parallel_for(heads, 1, [&](Index h, Index) {
    core::fill_normal({to + h * per_head, std::size_t(per_head)}, stream.fold(std::uint64_t(h)), 1);
  });
  return numbers;
}

void AngularHash::hash(const Real* x, const Real* numbers, std::uint16_t* buckets,
                       Real* scratch) const {
  core::simd().project(x, numbers, scratch, head_width, rounds * directions());
  for (Index r = 0; r < rounds; ++r) {
    const Real* y = scratch + r * directions();
    Index bucket = largest_of_both_signs(y, first / 2);
    if (second > 0) bucket += first * largest_of_both_signs(y + first / 2, second / 2);
    buckets[r] = std::uint16_t(bucket);
  }
}

std::vector<std::uint16_t> hash_tokens(const AngularHash& hash, const Tensor& directions,
                                       ConstHeads x, Index batch, Index heads, Index length) {
  constexpr Index tokens_per_piece = 512;
  const Index columns = hash.rounds * hash.directions();
  const Index pieces = (length + tokens_per_piece - 1) / tokens_per_piece;
  std::vector<std::uint16_t> ids(std::size_t(batch * heads * hash.rounds * length));
  core::parallel_for(batch * heads * pieces, 1, [&](Index task, Index) {
    const Index lane = task / pieces, first = task % pieces * tokens_per_piece;
    const Index b = lane / heads, h = lane % heads;
    const Real* own = directions.data() + h * hash.head_width * columns;
    std::vector<Real> scratch(static_cast<std::size_t>(columns));
    std::vector<std::uint16_t> token(static_cast<std::size_t>(hash.rounds));
    for (Index t = first; t < std::min(length, first + tokens_per_piece); ++t) {
      hash.hash(x.data + (b * length + t) * x.stride + h * hash.head_width, own, token.data(),
                scratch.data());
      for (Index r = 0; r < hash.rounds; ++r)
        ids[std::size_t((lane * hash.rounds + r) * length + t)] = token[std::size_t(r)];
    }
  });
  core::counters().flops.fetch_add(2 * batch * heads * length * hash.head_width * columns,
                                   std::memory_order_relaxed);
  return ids;
}

}  // namespace weft::layers
