// Pairs whose decay differs by column, so that it is inside the sum over columns. Readers are
// processed in parts, with the decay at a part's first token as reference. Readers are multiplied
// by their decay since then, keys before the part by their decay until then, both at most 1; keys
// inside the part are divided by their decay, a factor of at most e^80. The reference depends on
// nothing after the part's first token, and products have the shape of the whole block however it
// is cut into parts: a later gate changes no bit of an earlier pair.
#include "core/simd/kernels.h"
#include "layers/attention/recurrence/chunk_pairs.h"

namespace weft::layers {

/// The block around a part: readers of its tokens, keys up to its end.
struct ChunkPairs::Block {
  ChunkDecay::Part part;
  Index first, rows, keys, groups;

  /// Row of a tile that holds the reader of token r.
  Index row(Index group, Index r) const { return group * rows + r - first; }
};

ChunkPairs::Block ChunkPairs::block_of(std::size_t part, Index groups) const {
  const ChunkDecay::Part own = decay_.parts()[part];
  const Index first = own.first / ChunkDecay::part_rows * ChunkDecay::part_rows;
  const Index end = std::min(first + ChunkDecay::part_rows, decay_.rows());
  return {own, first, end - first, end, groups};
}

/// Refers keys and readers to the part's first token; parts are entered in order.
void ChunkPairs::enter(std::size_t part, const core::ConstMatrix& k) {
  const auto& simd = core::simd();
  const auto [first, last] = decay_.parts()[part];
  if (part > 0) {
    const Index before = decay_.parts()[part - 1].first;
    std::copy_n(decay_.step(first), width_, factors_ + (first - 1) * width_);
    for (Index j = first - 2; j >= before; --j)
      simd.multiply(factors_ + (j + 1) * width_, decay_.step(j + 1), factors_ + j * width_, width_);
    for (Index j = 0; j < before; ++j)
      simd.multiply(factors_ + before * width_, factors_ + j * width_, factors_ + j * width_,
                    width_);
  }
  std::fill_n(factors_ + first * width_, width_, Real(1));
  std::fill_n(reader_factors_, width_, Real(1));
  for (Index j = first + 1; j < last; ++j) {
    const Real *step = decay_.step(j), *above = factors_ + (j - 1) * width_;
    Real* factor = factors_ + j * width_;
    for (Index c = 0; c < width_; ++c) factor[c] = above[c] / step[c];
    simd.multiply(reader_factors_ + (j - 1 - first) * width_, step,
                  reader_factors_ + (j - first) * width_, width_);
  }
  const Index end = block_of(part, 1).keys;
  simd.multiply(k.data, factors_, keys_, last * width_);
  std::fill(keys_ + last * width_, keys_ + end * width_, Real(0));
}

void ChunkPairs::multiply_by_column(const core::ConstMatrix& x, const core::ConstMatrix& k,
                                    const core::Matrix& pairs) {
  const Index rows = decay_.rows(), groups = x.rows / rows;
  for (std::size_t part = 0; part < decay_.parts().size(); ++part) {
    enter(part, k);
    const Block block = block_of(part, groups);
    const core::Matrix readers{readers_, groups * block.rows, width_, width_};
    const core::Matrix tile{tile_, groups * block.rows, block.keys, block.keys};
    std::fill_n(readers.data, readers.rows * width_, Real(0));
    const Index count = (block.part.last - block.part.first) * width_;
    for (Index group = 0; group < groups; ++group)
      core::simd().multiply(x.data + (group * rows + block.part.first) * width_, reader_factors_,
                            readers.data + block.row(group, block.part.first) * width_, count);
    core::gemm(1, readers, core::transposed(core::ConstMatrix{keys_, block.keys, width_, width_}),
               0, tile);
    for (Index group = 0; group < groups; ++group)
      for (Index r = block.part.first; r < block.part.last; ++r)
        std::copy_n(tile.data + block.row(group, r) * block.keys, block.keys,
                    pairs.data + (group * rows + r) * pairs.stride);
  }
}

/// With readers x~ and keys k~ of a part: dx += (dpairs k~) e^(G - reference), and
/// dk += (dpairs^T x~) e^(reference - G).
void ChunkPairs::pull_back_by_column(const core::Matrix& dpairs, const core::ConstMatrix& x,
                                     const core::ConstMatrix& k, const core::Matrix& dx,
                                     const core::Matrix& dk) {
  const Index rows = decay_.rows(), groups = x.rows / rows;
  for (std::size_t part = 0; part < decay_.parts().size(); ++part) {
    enter(part, k);
    const Block block = block_of(part, groups);
    const core::Matrix readers{readers_, groups * block.rows, width_, width_};
    const core::Matrix tile{tile_, groups * block.rows, block.keys, block.keys};
    const core::Matrix keys{keys_, block.keys, width_, width_};
    const core::Matrix gradient{gradient_, block.keys, width_, width_};
    std::fill_n(tile.data, tile.rows * tile.cols, Real(0));
    for (Index group = 0; group < groups; ++group)
      for (Index r = block.part.first; r < block.part.last; ++r)
        std::copy_n(dpairs.data + (group * rows + r) * dpairs.stride, block.keys,
                    tile.data + block.row(group, r) * block.keys);
    const Index count = (block.part.last - block.part.first) * width_;
    core::gemm(1, tile, keys, 0, readers);
    for (Index group = 0; group < groups; ++group)
      core::simd().multiply_add(readers.data + block.row(group, block.part.first) * width_,
                                reader_factors_,
                                dx.data + (group * rows + block.part.first) * width_, count);
    std::fill_n(readers.data, readers.rows * width_, Real(0));
    for (Index group = 0; group < groups; ++group)
      core::simd().multiply(x.data + (group * rows + block.part.first) * width_, reader_factors_,
                            readers.data + block.row(group, block.part.first) * width_, count);
    core::gemm(1, core::transposed(tile), readers, 0, gradient);
    core::simd().multiply_add(gradient.data, factors_, dk.data, block.part.last * width_);
  }
}

}  // namespace weft::layers
