#pragma once

#include "data/solvable/solvable.h"
#include "data/tasks/markov_chain.h"

namespace weft::data {

/// The settings of data.kind = "needle".
struct NeedleSettings {
  Index symbols = 26;    ///< of the chain that surrounds the needles, and of their payload
  Index successors = 4;  ///< symbols that may follow a symbol of the chain
  Index keys = 64;       ///< names of needles
  Index needles = 4;     ///< in a sequence, each with a key of its own
  Index payload = 3;     ///< symbols that follow a needle's key, to be recalled
  Index language = 1;    ///< number of the chain, out of all with these settings
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
  /// Tokens of a needle, and of the question.
  Index slot() const { return payload + 2; }
};

/// Needles in a haystack. Tokens are the symbols of a Markov chain, the mark, and keys. All but the
/// last slot of payload + 2 tokens are the chain, cut into slots; some different slots instead hold
/// a needle: the mark, a key and a payload drawn uniformly, from whose last symbol the chain goes
/// on. The last slot is the mark, the key of one of the needles and its payload, which is what is
/// scored; the last symbol is a target only. The needle asked for is in any slot with equal
/// probability.
class Needle final : public Solvable {
 public:
  Needle(const NeedleSettings& settings, Index length, Index batch, std::uint64_t seed);

  std::optional<std::string> scored_part() const override { return "payload"; }
  std::string fingerprint() const override;

  Token mark() const { return Token(settings_.symbols); }

 private:
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  NeedleSettings settings_;
  Index slots_;
  MarkovChain chain_;
  std::vector<double> first_;  // how likely each symbol begins a sequence
};

}  // namespace weft::data
