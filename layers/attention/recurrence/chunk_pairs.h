#pragma once

#include "core/arrays/tensor.h"
#include "layers/attention/recurrence/chunk_decay.h"

namespace weft::layers {

/// Products of a chunk's readers with its keys, each decayed from key to reader:
///   pairs_ij = sum_c x_ic k_jc e^(G_ic - G_jc),
/// G summing the decays of the chunk. Readers come in groups of one row for each token: queries
/// read keys j <= i, what is erased is read from keys j < i; other pairs are 0.
class ChunkPairs {
 public:
  ChunkPairs(const RecurrenceProblem& problem, const ChunkDecay& decay);

  /// Which groups the readers hold, in this order.
  enum class Readers { queries, erasers, both };

  /// x: [groups rows, D], k: [rows, D] -> pairs: [groups rows, rows]
  void multiply(Readers readers, const core::ConstMatrix& x, const core::ConstMatrix& k,
                const core::Matrix& pairs);
  /// Adds to dx and dk from the gradient of the pairs, which it overwrites.
  void pull_back(Readers readers, const core::Matrix& dpairs, const core::ConstMatrix& x,
                 const core::ConstMatrix& k, const core::Matrix& dx, const core::Matrix& dk);

  /// Of either product for this many rows and groups: multiply does one, pull_back two of it. Parts
  /// beyond the first of a block, which only columns that fall below e^-80 within it cause, are
  /// left out.
  static Index flops(const RecurrenceProblem& problem, Index rows, Index groups);

 private:
  void mask(Readers readers, const core::Matrix& pairs, bool decayed) const;
  void multiply_by_column(const core::ConstMatrix& x, const core::ConstMatrix& k,
                          const core::Matrix& pairs);
  void pull_back_by_column(const core::Matrix& dpairs, const core::ConstMatrix& x,
                           const core::ConstMatrix& k, const core::Matrix& dx,
                           const core::Matrix& dk);
  struct Block;
  void enter(std::size_t part, const core::ConstMatrix& k);
  Block block_of(std::size_t part, Index groups) const;

  const RecurrenceProblem& problem_;
  const ChunkDecay& decay_;
  Index width_;
  Tensor storage_;
  // For decays by column: key factors, decayed keys, reader factors, and tiles of one block.
  Real *factors_, *keys_, *reader_factors_, *readers_, *tile_, *gradient_;
};

}  // namespace weft::layers
