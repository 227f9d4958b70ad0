#pragma once

#include "core/rng.h"
#include "data/alphabet.h"
#include "data/settings.h"

namespace weft::data {

/// Symbols drawn uniformly and independently: nothing can be learnt, so a model that ends below
/// log2(symbols) bits has a leak, and a benchmark needs no file. Held-out sequences depend on the
/// settings only.
class Noise final : public Dataset {
 public:
  Noise(const NoiseSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return settings_.symbols; }
  Batch training(Index number) const override;
  std::optional<Index> training_tokens() const override { return {}; }
  /// A sequence is one window whatever the stride.
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override { return alphabet_.encode(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return alphabet_.decode(tokens);
  }
  std::optional<double> floor_bits(Split) const override;
  std::string unit() const override { return "symbol"; }
  std::string fingerprint() const override;

 private:
  Batch draw(const core::Rng& stream, Index first_sequence, Index sequences) const;

  NoiseSettings settings_;
  Index length_, batch_;
  std::uint64_t seed_;
  Alphabet alphabet_;
};

}  // namespace weft::data
