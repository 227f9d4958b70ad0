#pragma once

#include <vector>

#include "core/arrays/named_array.h"
#include "core/arrays/tensor.h"

namespace weft::layers {

using core::Index;
using core::Real;
using core::Tensor;

/// The last `count` rows of every sequence, or all where there are fewer.  x: [B * T, n]
Tensor last_rows(const Tensor& x, Index batch, Index count);

/// What the layers of a model carry from one segment of B streams to the next: the latest inputs of
/// each layer's attention and the states of its recurrences, without gradient. Its arrays have one
/// size throughout, so that a checkpoint can hold them.
class StreamMemory {
 public:
  /// Carries nothing.
  StreamMemory() = default;
  /// `rows`: the most that each layer keeps of a stream, `numbers`: of its recurrences' states; 0
  /// for a layer that keeps nothing.
  StreamMemory(const std::vector<Index>& rows, const std::vector<Index>& numbers, Index batch,
               Index width);

  /// The streams begin anew.
  void forget();
  /// What a layer keeps.  -> [B * M, W]
  Tensor read(std::size_t layer) const;
  /// Adds a segment, [B * T, W], and keeps at most `most` rows of each stream.
  void append(std::size_t layer, const Tensor& now, Index most);
  /// The states of a layer's recurrences.  [B, n]
  const Tensor& state(std::size_t layer) const { return states_[layer]; }
  void set_state(std::size_t layer, const Tensor& after);

  std::size_t layers() const { return kept_.size(); }
  Index batch() const { return batch_; }

  /// All that a checkpoint needs, by name.
  std::vector<core::NamedArray> arrays();

 private:
  Index held(std::size_t layer) const { return Index(held_.read()[layer]); }

  Index batch_ = 0;
  std::vector<Tensor> kept_;    ///< of each layer, [B, rows, W], the latest last
  Tensor held_;                 ///< how many rows of each layer are in use
  std::vector<Tensor> states_;  ///< of each layer, [B, n]
};

}  // namespace weft::layers
