#pragma once

#include <vector>

#include "core/arrays/tensor.h"
#include "layers/attention/features/carried_sums.h"
#include "layers/attention/features/chunks.h"

namespace weft::layers {

/// A key that lies this far above the reference in some feature gets a part of its chunk with a
/// new reference: e^40 times any length still fits a float.
inline constexpr Real part_slack = 40;

/// Places [first, last) of a chunk that share one reference.
struct PlaceRange {
  Index first, last;
  bool holds(Index place) const { return first <= place && place < last; }
};

/// The features of one chunk, ready for products. Numbers come as one part; exponentials are taken
/// against a reference that only keys up to a place may move, so that the outputs before a change
/// keep their bits: usually the largest key before the chunk, with a further part wherever a key
/// exceeds it by too much. Rows outside the entered part are zero, whatever the number of parts, so
/// that products keep their shapes.
class ChunkFeatures {
 public:
  explicit ChunkFeatures(const FeatureProblem& problem);

  /// Maps rows of a lane. `top`: the largest key before the chunk, by feature. `totals`: sums of
  /// the keys before it in units of e^top, read for shares only.
  void load(const FeatureLane& lane, const Chunk& chunk, ConstHeads q, ConstHeads k,
            const Real* top, const Real* totals);

  Index parts() const { return Index(starts_.size()); }
  PlaceRange part(Index p) const {
    const auto i = std::size_t(p);
    return {starts_[i], i + 1 < starts_.size() ? starts_[i + 1] : chunk_.places()};
  }
  /// Logarithms and shares only.
  const Real* reference(Index p) const { return references_.data() + p * features_; }

  /// Fills q, k and divisors for one part.
  void enter(Index p);

  core::Matrix q{}, k{};  ///< [queries, P], [keys, P]
  /// For shares: by what each query's features were divided, [queries, P]. Zero where it reads
  /// nothing.
  core::Matrix divisors{};
  /// What the map made, [queries, P] and [keys, P].
  core::Matrix mapped_q{}, mapped_k{};

 private:
  void split(const Real* top);
  void sum_parts(const Real* top, const Real* totals);
  void exponentiate_keys(Index p);
  void exponentiate_queries(Index p);
  void divide_queries(Index p);

  const FeatureProblem& problem_;
  const Index features_;
  core::Tensor memory_;
  Chunk chunk_{};
  std::vector<Index> starts_;
  std::vector<Real> references_, totals_, running_;
};

/// highest[c] = max(highest[c], f[r][c]) over all rows.
void raise_to_columns(const core::ConstMatrix& f, Real* highest);

}  // namespace weft::layers
