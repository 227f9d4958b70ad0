#pragma once

#include "core/fields.h"
#include "data/tasks/chain_walk.h"
#include "data/tasks/generated.h"

namespace weft::data {

/// In which order a summary gives the marked sentences.
enum class MarkedOrder { rank, document };

/// The settings of data.kind = "marked".
struct MarkedSettings {
  Index source = 512;  ///< tokens of the longest document
  Index symbols = 26;
  Index least = 4, most = 12;  ///< symbols of a sentence
  Index marks = 3;             ///< sentences that are marked, at most
  MarkedOrder order = MarkedOrder::rank;
  Index held_out = 256;  ///< documents in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
  /// Tokens of the longest summary, its end included.
  Index longest_summary() const { return marks * (most + 1) + 1; }
};

/// Documents of sentences of which a few are marked, and summaries that give those alone: to write
/// one, a model has to find the marks in the whole document, put them in order and copy. Sentences
/// are symbols of the recall language's chain, which runs on, and STOP. A uniformly drawn number
/// of them, 1 .. marks, has MARK and a rank in front; the summary is those sentences by rank (with
/// order = "document" there are no ranks, and it follows the document), then 0. Held-out documents
/// depend on the settings only.
class Marked final : public Generated {
 public:
  Marked(const MarkedSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return first_symbol() + settings_.symbols; }
  Index source_length() const override { return settings_.source; }
  std::optional<Token> boundary() const override { return end; }
  std::optional<double> floor_bits(Split) const override { return 0; }
  std::optional<std::string> scored_part() const override { return "summary"; }
  /// Every symbol is a word.
  std::vector<std::string> words(std::span<const Token> tokens) const override;
  std::string fingerprint() const override;

  static constexpr Token end = 0, stop = 1, mark = 2, first_rank = 3;
  Token first_symbol() const { return first_rank + Token(settings_.marks); }

 private:
  core::Rng stream(Split split, Index number) const override;
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;
  /// As many sentences as fit, each with its STOP.
  std::vector<std::vector<Token>> sentences(const core::Rng& stream) const;

  MarkedSettings settings_;
  ChainLanguage language_;
  std::uint64_t seed_;
};

}  // namespace weft::data
