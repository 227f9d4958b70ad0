#pragma once

#include "data/solvable/solvable.h"

namespace weft::data {

/// The settings of data.kind = "copying".
struct CopyingSettings {
  Index symbols = 14;    ///< tokens 2 .. symbols + 1
  Index word = 16;       ///< symbols to copy
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
};

/// Selective copying. Among the first T - word tokens, which are blank (0), `word` symbols drawn
/// uniformly are at random places; then `word` times "ask" (1) asks for them in order.
class Copying final : public Solvable {
 public:
  Copying(const CopyingSettings& settings, Index length, Index batch, std::uint64_t seed);

  std::optional<std::string> scored_part() const override { return "copy"; }
  std::string fingerprint() const override;

 private:
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  CopyingSettings settings_;
};

}  // namespace weft::data
