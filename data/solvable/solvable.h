#pragma once

#include <string_view>

#include "data/tasks/generated.h"

namespace weft::data {

/// A generated task that can be solved exactly: every scored token follows with certainty from the
/// tokens up to its place. Training sequences depend on the seed, held-out ones on the settings
/// only.
class Solvable : public Generated {
 public:
  Index vocabulary() const override { return vocabulary_; }
  std::optional<double> floor_bits(Split) const override { return 0; }
  std::optional<double> chance() const override { return 1 / double(answers_); }

 protected:
  /// How many sequences are held out, how many different tokens there are, and how many of them
  /// are equally likely answers to who has not read the sequence.
  struct Sizes {
    Index held_out, vocabulary, answers;
  };
  /// `name` distinguishes the random numbers of the tasks.
  Solvable(std::string_view name, const Sizes& sizes, Index length, Index batch,
           std::uint64_t seed);

 private:
  core::Rng stream(Split split, Index number) const override;

  Index vocabulary_, answers_;
  core::Rng training_, held_out_;
};

}  // namespace weft::data
