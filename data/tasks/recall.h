#pragma once

#include "data/tasks/generated.h"
#include "data/tasks/recall_source.h"

namespace weft::data {

/// Sequences of the recall language, which never end. The language and the held-out sequences
/// depend on the settings only, so that runs with different seeds are measured on the same ones;
/// training sequence s (batch number * B + row) is drawn from (seed, s).
/// Ordinary symbols print as a, b, c ..., keys as 0, 1, 2 ...
class Recall final : public Generated {
 public:
  Recall(const RecallSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return source_.vocabulary(); }
  std::optional<double> floor_bits(Split split) const override;
  std::optional<double> chance() const override { return 1 / double(source_.symbols()); }
  std::string fingerprint() const override;

  const RecallSource& source() const { return source_; }

 private:
  core::Rng stream(Split split, Index number) const override;
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  RecallSettings settings_;
  RecallSource source_;
  core::Rng training_;
};

}  // namespace weft::data
