#pragma once

#include "core/fields.h"
#include "data/solvable/solvable.h"

namespace weft::data {

/// A word and its copy in one sequence, or as a pair of source and target.
enum class DuplicateForm { language, seq2seq };

/// The settings of data.kind = "duplicate".
struct DuplicateSettings {
  DuplicateForm form = DuplicateForm::language;
  Index shortest = 1;    ///< seq2seq: symbols in the shortest word
  Index word = 0;        ///< symbols in a word, in seq2seq at most; 0: as many as a sequence holds
  Index symbols = 127;   ///< a word's symbols are 1 .. symbols
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
  bool pairs() const { return form == DuplicateForm::seq2seq; }
};

/// Words of symbols drawn uniformly from 1 .. symbols, each followed by a copy that is scored and
/// can be predicted with certainty. Token 0 marks where words begin and end. Held-out words depend
/// on the settings only.
class RepeatedWords : public Solvable {
 protected:
  /// `name` distinguishes the random numbers of the forms.
  RepeatedWords(const DuplicateSettings& settings, std::string_view name, Index length, Index batch,
                std::uint64_t seed);

  const DuplicateSettings& settings() const { return settings_; }
  /// Symbol `i` of the word that the stream draws.
  Token symbol(const core::Rng& stream, std::size_t i) const;

 private:
  DuplicateSettings settings_;
};

/// form = "language": sequences 0 w 0 w, a word and its copy. Only the second half, 0 w, is scored.
/// What remains of a sequence after both words is padding.
class Duplicate final : public RepeatedWords {
 public:
  Duplicate(const DuplicateSettings& settings, Index length, Index batch, std::uint64_t seed);

  std::optional<std::string> scored_part() const override { return "second half"; }
  std::string fingerprint() const override;

  /// Symbols in a word.
  Index word() const { return word_; }

 private:
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  Index word_;
};

/// form = "seq2seq": the source is a word whose length is drawn uniformly too, the target is the
/// same word followed by 0. The rest of a source is padding, recognised by its length only.
class DuplicatePairs final : public RepeatedWords {
 public:
  DuplicatePairs(const DuplicateSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index source_length() const override { return longest_; }
  std::optional<Token> boundary() const override { return 0; }
  std::optional<std::string> scored_part() const override { return "copy"; }
  std::string fingerprint() const override;

 private:
  void draw(const core::Rng& stream, BatchRows& rows, Index row) const override;

  Index longest_;
};

}  // namespace weft::data
