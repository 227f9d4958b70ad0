#pragma once

#include "data/tasks/generated.h"

namespace weft::data {

/// The settings of data.kind = "noise".
struct NoiseSettings {
  Index symbols = 256;
  Index stream = 0;     ///< tokens of a sequence that is read in segments; 0: data.length
  Index held_out = 16;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
};

/// Symbols drawn uniformly and independently: nothing can be learned, so a model that ends below
/// log2(symbols) bits has a leak, and a benchmark needs no file. Held-out sequences depend on the
/// settings only.
class Noise final : public Generated {
 public:
  Noise(const NoiseSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return settings_.symbols; }
  std::optional<double> floor_bits(Split) const override;
  std::string fingerprint() const override;

 private:
  core::Rng stream(Split split, Index number) const override;
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  NoiseSettings settings_;
  std::uint64_t seed_;
};

}  // namespace weft::data
