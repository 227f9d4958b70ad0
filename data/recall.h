#pragma once

#include "core/rng.h"
#include "data/alphabet.h"
#include "data/recall_source.h"

namespace weft::data {

/// Sequences of the recall language, which never end. The language and the held-out sequences
/// depend on the settings only, so that runs with different seeds are measured on the same ones;
/// training sequence s (batch number * B + row) is drawn from (seed, s).
/// Ordinary symbols print as a, b, c ..., keys as 0, 1, 2 ...
class Recall final : public Dataset {
 public:
  Recall(const RecallSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return source_.vocabulary(); }
  Batch training(Index number) const override;
  std::optional<Index> training_tokens() const override { return {}; }
  /// A sequence is one window whatever the stride. Of the training split, which never ends, the
  /// first `held_out` sequences are scored.
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override { return alphabet_.encode(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return alphabet_.decode(tokens);
  }
  std::optional<double> floor_bits(Split split) const override;
  std::optional<double> chance() const override { return 1 / double(source_.symbols()); }
  std::string unit() const override { return "symbol"; }
  std::string fingerprint() const override;

  const RecallSource& source() const { return source_; }

 private:
  RecallDraw sequence(Split split, Index number) const;
  Batch sequences(Split split, Index begin, Index end) const;

  RecallSettings settings_;
  Index batch_;
  RecallSource source_;
  Alphabet alphabet_;
  core::Rng training_;
};

}  // namespace weft::data
