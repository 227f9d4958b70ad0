#pragma once

#include "data/dataset.h"

namespace weft::data {

/// A sequence and the class that it belongs to.
struct Example {
  std::vector<Token> tokens;
  Token label = core::no_target;
};

/// A batch of B = `batch` rows, the first of which hold the examples. A row without an example
/// reads one token of padding and scores nothing: no row is empty. `pads`: sequences may be shorter
/// than `length`.
Batch batch_of(const std::vector<Example>& examples, Index batch, Index length, bool pads);

/// Sequences with one answer each: their class. A batch's targets are [B, 1]; rows shorter
/// than T are padded with token 0, and `lengths` says how much of each is real. A sequence is one
/// window whatever the stride.
class Classification : public Dataset {
 public:
  Index length() const override { return length_; }
  Index batch() const override { return batch_; }
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::optional<double> chance() const override { return 1 / double(classes()); }
  std::vector<Baseline> baselines(Split split) const override;
  bool predicts_next() const override { return false; }
  std::string unit() const override { return "sequence"; }

 protected:
  /// `pads`: sequences may be shorter than `length`.
  Classification(Index length, Index batch, bool pads)
      : length_(length), batch_(batch), pads_(pads) {}

  /// Training data, numbered from 0 without end.
  virtual Example training_example(Index number) const = 0;
  /// The part of a split that is scored.
  virtual Index scored(Split split) const = 0;
  virtual Example scored_example(Split split, Index number) const = 0;

  /// The accuracy of always predicting the most frequent class among examples with the same value
  /// of `group`, which is in 0 .. groups - 1.
  template <class Group>
  double best_by(Split split, Index groups, Group group) const;

 private:
  Batch read_training(Index number, core::Stretch rows) const override;
  /// A batch of `rows`, with the examples take(0) .. take(count - 1) as far as there are rows.
  template <class Take>
  Batch assemble(Index rows, Index count, Take take) const;

  Index length_, batch_;
  bool pads_;
};

template <class Group>
double Classification::best_by(Split split, Index groups, Group group) const {
  std::vector<std::vector<Index>> counts(std::size_t(groups),
                                         std::vector<Index>(std::size_t(classes()), 0));
  for (Index i = 0; i < scored(split); ++i) {
    const Example example = scored_example(split, i);
    ++counts[std::size_t(group(example))][std::size_t(example.label)];
  }
  Index right = 0;
  for (const auto& of_classes : counts) {
    Index most = 0;
    for (const Index count : of_classes) most = count > most ? count : most;
    right += most;
  }
  return double(right) / double(scored(split));
}

}  // namespace weft::data
