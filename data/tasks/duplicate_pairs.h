#pragma once

#include "data/settings.h"
#include "data/tasks/generated.h"

namespace weft::data {

/// Words to be told again: the source is a word of symbols drawn uniformly from 1 .. symbols, of a
/// length drawn uniformly too; the target is the same word and 0 for its end. What is left of a
/// source is padding, known by its length only. Held-out pairs depend on the settings only.
class DuplicatePairs final : public Generated {
 public:
  DuplicatePairs(const DuplicateSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return settings_.symbols + 1; }
  Index source_length() const override { return longest_; }
  std::optional<Token> boundary() const override { return 0; }
  std::optional<double> floor_bits(Split) const override { return 0; }
  std::optional<double> chance() const override { return 1 / double(settings_.symbols); }
  std::optional<std::string> scored_part() const override { return "copy"; }
  std::string fingerprint() const override;

 private:
  core::Rng stream(Split split, Index number) const override;
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  DuplicateSettings settings_;
  Index longest_;
  std::uint64_t seed_;
};

}  // namespace weft::data
