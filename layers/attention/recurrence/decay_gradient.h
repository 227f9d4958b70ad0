#pragma once

#include <vector>

#include "layers/attention/recurrence/chunk_state.h"

namespace weft::layers {

/// The gradients of a chunk's products, [groups rows, rows], and of its rows as far as they read
/// the state before the chunk and write to the one after it.
struct ChunkGradients {
  core::Matrix pairs, dpairs, dreaders, dkeys;
};

/// The gradient of a chunk's decays, in double: in sums over tokens most of it cancels out.
class DecayGradient {
 public:
  explicit DecayGradient(const RecurrenceProblem& problem)
      : sum_(std::size_t(problem.width)), columns_(std::size_t(problem.rows())) {}

  /// Of decays that are one number for each token, before the products are pulled back. Token r's
  /// decays what readers from r on find of keys before r, of the state before the chunk, and what
  /// of keys before r and of that state is in the state after it:
  ///   dg_r = sum over i >= r > j of pairs_ij dpairs_ij + sum over i >= r of readers_i dreaders_i
  ///        + sum over j < r of keys_j dkeys_j + e^G s ds.
  /// s: the state before the chunk, ds: the gradient of the one after it, e^G: the decay over the
  /// chunk.  [D, D]
  void pull_back_tokens(const ChunkState& chunk, const ChunkGradients& gradients,
                        const core::Matrix& s, const core::Matrix& ds, const Gates& to);

  /// Of decays by column, with the gradients of readers and keys in all. A reader's row grows with
  /// the sum of decays up to it and a key's shrinks with it, so that sum has the gradient readers
  /// dreaders - keys dkeys; at the chunk's end the state after it adds its row sums of s ds. A
  /// decay has the sum of these from its token on.
  void pull_back_columns(const ChunkState& chunk, const core::Matrix& dreaders,
                         const core::Matrix& dkeys, const core::Matrix& s, const core::Matrix& ds,
                         const Gates& to);

 private:
  std::vector<double> sum_;      ///< of each column of a head
  std::vector<double> columns_;  ///< of each column of the products
};

}  // namespace weft::layers
