#pragma once

#include <span>

#include "data/dataset.h"

namespace weft::data {

/// A batch under construction, row by row; it begins as padding that scores nothing.
class BatchRows {
 public:
  BatchRows(Index batch, Index length)
      : shape_{batch, length},
        inputs_(std::size_t(batch * length), 0),
        targets_(std::size_t(batch * length), core::no_target) {}

  std::span<Token> inputs(Index row) { return row_of(inputs_, row); }
  std::span<Token> targets(Index row) { return row_of(targets_, row); }
  /// Asking for distances gives the batch an array of them.
  std::span<Token> distances(Index row) {
    distances_.resize(inputs_.size(), 0);
    return row_of(distances_, row);
  }

  Batch finish() && {
    Batch batch;
    batch.inputs = core::Tokens(shape_, std::move(inputs_));
    batch.targets = core::Tokens(shape_, std::move(targets_));
    if (!distances_.empty()) batch.distances = core::Tokens(shape_, std::move(distances_));
    return batch;
  }

 private:
  std::span<Token> row_of(std::vector<Token>& all, Index row) const {
    const auto length = std::size_t(shape_.back());
    return std::span(all).subspan(std::size_t(row) * length, length);
  }

  core::Shape shape_;
  std::vector<Token> inputs_, targets_, distances_;
};

}  // namespace weft::data
