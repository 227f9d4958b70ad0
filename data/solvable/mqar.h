#pragma once

#include "data/solvable/solvable.h"

namespace weft::data {

/// The settings of data.kind = "mqar".
struct MqarSettings {
  Index keys = 128;      ///< tokens 1 .. keys
  Index values = 128;    ///< the tokens after them
  Index pairs = 8;       ///< keys of a sequence, each written with a value and asked for once
  Index updates = 0;     ///< of these keys, how many are written again with another value
  double power = 0.01;   ///< of the places of questions: the lower, the earlier they are asked
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
  /// Tokens in which keys and values are written.
  Index written() const { return 2 * (pairs + updates); }
};

/// Multi-query associative recall. A sequence begins with k1 v1 ... kP vP, different keys with
/// values drawn uniformly; then `updates` of the keys, in random order, follow again with another
/// value each. The rest is slots of two tokens. P different slots, drawn one after another with
/// weight (slot + 1)^(power - 1), each begin with one of the keys, whose target is its last value;
/// all other tokens are values drawn uniformly, and nothing else is scored.
class Mqar final : public Solvable {
 public:
  Mqar(const MqarSettings& settings, Index length, Index batch, std::uint64_t seed);

  std::optional<std::string> scored_part() const override { return "answers"; }
  std::string fingerprint() const override;

 private:
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;
  /// The slots that ask for the first, second ... key.
  std::vector<Index> questions(const core::Rng& stream) const;

  MqarSettings settings_;
  Index slots_;
};

}  // namespace weft::data
