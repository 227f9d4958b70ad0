#pragma once

#include <array>

#include "core/rng.h"
#include "data/alphabet.h"
#include "data/batch_rows.h"
#include "data/packed_tokens.h"
#include "data/settings.h"

namespace weft::data {

/// A text as bytes or characters, cut into splits. Training sequence s (batch number * B + row)
/// begins at a random place drawn from (seed, s), or continues the stream of its row.
class Text final : public Dataset {
 public:
  Text(const TextSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override;
  Batch training(Index number) const override;
  std::optional<Index> training_tokens() const override { return part(Split::training).size; }
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::string unit() const override { return alphabet_ ? "character" : "byte"; }
  std::string fingerprint() const override { return fingerprint_; }

  /// How many tokens a split holds.
  Index tokens(Split split) const { return part(split).size; }
  /// Copies a split's tokens begin .. begin + out.size() - 1.
  void read(Split split, Index begin, std::span<Token> out) const {
    files_[std::size_t(part(split).file)].read(part(split).begin + begin, out);
  }

 private:
  /// The tokens begin .. begin + size - 1 of one file.
  struct Part {
    Index file = 0;
    Index begin = 0;
    Index size = 0;
  };

  void load(const TextSettings& settings);
  void divide(const std::vector<double>& fractions);
  void check_training_length(const TextSettings& settings) const;
  const Part& part(Split split) const { return parts_[std::size_t(split)]; }
  const Part& part_to_score(Split split) const;
  Index streams_begin(Index number, Index row) const;
  Index stream_segments() const;
  void fill(BatchRows& rows, Index row, const Part& part, Index begin, Index end,
            Index scored_from) const;

  Index length_, batch_;
  bool crops_;
  core::Rng places_;
  std::optional<Alphabet> alphabet_;  // none: tokens are bytes
  std::vector<PackedTokens> files_;
  std::array<Part, 3> parts_;
  std::string fingerprint_;
};

}  // namespace weft::data
