#pragma once

#include <span>

#include "data/dataset.h"

namespace weft::data {

/// A batch under construction, row by row; at first it is all padding, and nothing is scored.
class BatchRows {
 public:
  BatchRows(Index batch, Index length)
      : shape_{batch, length},
        inputs_(std::size_t(batch * length), 0),
        targets_(std::size_t(batch * length), core::no_target) {}

  std::span<Token> inputs(Index row) { return row_of(inputs_, row); }
  std::span<Token> targets(Index row) { return row_of(targets_, row); }
  /// The first call gives the batch an array of distances.
  std::span<Token> distances(Index row) {
    distances_.resize(inputs_.size(), 0);
    return row_of(distances_, row);
  }
  /// The first call gives the batch an array of sources, `longest` tokens each, of which this row
  /// uses `real`. A row without this call has one token of padding as its source.
  std::span<Token> source(Index row, Index real, Index longest) {
    if (source_lengths_.empty()) {
      source_lengths_.resize(std::size_t(shape_[0]), 1);
      sources_.resize(std::size_t(shape_[0] * longest), 0);
    }
    source_lengths_[std::size_t(row)] = real;
    return std::span(sources_).subspan(std::size_t(row * longest), std::size_t(real));
  }

  Batch finish() && {
    Batch batch;
    batch.inputs = core::Tokens(shape_, std::move(inputs_));
    batch.targets = core::Tokens(shape_, std::move(targets_));
    if (!distances_.empty()) batch.distances = core::Tokens(shape_, std::move(distances_));
    if (!source_lengths_.empty()) {
      const Index longest = Index(sources_.size()) / shape_[0];
      batch.sources = core::Tokens({shape_[0], longest}, std::move(sources_));
      batch.source_lengths = std::make_shared<const std::vector<Index>>(std::move(source_lengths_));
    }
    return batch;
  }

 private:
  std::span<Token> row_of(std::vector<Token>& all, Index row) const {
    const auto length = std::size_t(shape_.back());
    return std::span(all).subspan(std::size_t(row) * length, length);
  }

  core::Shape shape_;
  std::vector<Token> inputs_, targets_, distances_, sources_;
  std::vector<Index> source_lengths_;
};

}  // namespace weft::data
