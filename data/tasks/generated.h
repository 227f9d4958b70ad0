#pragma once

#include "core/fields.h"
#include "core/rng.h"
#include "data/batch_rows.h"
#include "data/spelling/alphabet.h"

namespace weft::data {

/// How many segments of `length` a stream has; 1 for a stream of 0, which is `length` itself.
Index segments_of(Index stream, Index length);

/// Lists a setting `stream`: the tokens of a sequence that is read in segments of `length`.
void list_stream(core::Fields& fields, Index& stream, Index length);
/// Lists a setting `held_out`: the sequences of the validation split, and of the test split.
void list_held_out(core::Fields& fields, Index& held_out);

/// An endless supply of sequences that a generator draws one by one. A sequence is one window
/// whatever the stride, or several segments that successive batches read in order; of each split,
/// the first `held_out` sequences are scored.
class Generated : public Dataset {
 public:
  Index length() const override { return length_; }
  Index batch() const override { return batch_; }
  std::optional<Index> training_tokens() const override { return {}; }
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override { return alphabet_.encode(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return alphabet_.decode(tokens);
  }
  std::optional<Spelling> spelling() const override { return Spelling(alphabet_); }
  std::string unit() const override { return "symbol"; }

 protected:
  Generated(Index length, Index batch, Index held_out, Alphabet alphabet, Index segments = 1);

  /// The random numbers of sequence `number` of a split.
  virtual core::Rng stream(Split split, Index number) const = 0;
  /// Writes one sequence into a row that is all padding.
  virtual void draw(const core::Rng& stream, BatchRows& rows, Index row) const = 0;

  Index held_out() const { return held_out_; }

 private:
  Batch read_training(Index number, core::Stretch rows) const override;
  /// One segment of the sequences begin .. end - 1 of a split, and padding up to a batch of `rows`.
  Batch sequences(Split split, Index begin, Index end, Index segment, Index rows) const;

  Index length_, batch_, held_out_, segments_;
  Alphabet alphabet_;
};

}  // namespace weft::data
