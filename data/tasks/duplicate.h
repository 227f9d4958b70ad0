#pragma once

#include "data/settings.h"
#include "data/tasks/generated.h"

namespace weft::data {

/// Sequences 0 w 0 w: a word of symbols drawn uniformly from 1 .. symbols, told twice. Only the
/// second half, 0 w, is scored, and all of it follows from the first. What is left of a sequence
/// beyond both words is padding. Held-out sequences depend on the settings only.
class Duplicate final : public Generated {
 public:
  Duplicate(const DuplicateSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return settings_.symbols + 1; }
  std::optional<double> floor_bits(Split) const override { return 0; }
  std::optional<double> chance() const override { return 1 / double(settings_.symbols); }
  std::optional<std::string> scored_part() const override { return "second half"; }
  std::string fingerprint() const override;

  /// Symbols in a word.
  Index word() const { return word_; }

 private:
  core::Rng stream(Split split, Index number) const override;
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  DuplicateSettings settings_;
  Index word_;
  std::uint64_t seed_;
};

}  // namespace weft::data
