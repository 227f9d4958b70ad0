#pragma once

#include <array>

#include "core/fields.h"
#include "data/dataset.h"
#include "data/summaries/pair_file.h"
#include "data/text/shifted_spelling.h"
#include "data/text/split_files.h"
#include "data/text/text_units.h"

namespace weft::data {

/// The settings of data.kind = "pairs".
struct PairsSettings {
  SplitFiles files{.fractions = {0.8, 0.1, 0.1}};
  PairFields columns = {};
  std::string source_field = "source", target_field = "target";  ///< of JSON lines
  TextUnits units = {};
  Index source_length = 512;  ///< tokens of a source, longer ones are cut
  Meaning known = {};         ///< to a model that has been trained

  void fields(core::Fields& fields, Index length);
  /// What the chosen format asks for.
  PairFields pair_fields() const;
};

/// Sources and targets from files, read as bytes, characters or pieces, such as documents
/// and their summaries. Token 0 begins and ends every target. Sources are cut at `source_length`
/// and targets at `length`; a target that is cut has no end. Training reads every pair once per
/// epoch, each time in a new order. One file is divided by fractions in a random order that depends
/// on the number of different sources only; equal sources stay together, so that no source is both
/// held out and trained on.
class Pairs final : public Dataset {
 public:
  Pairs(const PairsSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index length() const override { return length_; }
  Index batch() const override { return batch_; }
  Index vocabulary() const override { return spelling_.vocabulary(); }
  Index source_length() const override { return settings_.source_length; }
  std::optional<Token> boundary() const override { return 0; }
  std::optional<Index> training_tokens() const override;
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override { return spelling_.encode(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return spelling_.decode(tokens);
  }
  std::optional<Spelling> spelling() const override { return spelling_.units(); }
  Token first_unit() const override { return spelling_.first(); }
  std::optional<std::string> scored_part() const override { return "target"; }
  std::optional<std::string> reference(Split split, Index number) const override;
  std::vector<std::string> remarks() const override;
  /// What bits are counted by: pieces by the bytes that they stand for.
  std::string unit() const override { return has_pieces() ? "byte" : spelling_.units().unit(); }
  std::optional<Index> text_bytes(Token token) const override;
  std::string fingerprint() const override { return fingerprint_; }

 private:
  /// What the files hold, before it is known which characters there are.
  struct Source;
  Pairs(const PairsSettings& settings, Index length, Index batch, std::uint64_t seed,
        Source source);

  Batch read_training(Index number, core::Stretch rows) const override;
  template <class Take>
  Batch assemble(Index rows, Index count, Take take) const;
  const std::vector<PairLine>& of(Split split) const { return splits_[std::size_t(split)]; }
  Index scored(Split split) const;
  bool has_pieces() const { return spelling_.units().tokenizer().has_value(); }

  PairsSettings settings_;
  Index length_, batch_;
  std::array<std::vector<PairLine>, 3> splits_;
  ShiftedSpelling spelling_;
  std::uint64_t seed_;
  std::string fingerprint_;
};

}  // namespace weft::data
