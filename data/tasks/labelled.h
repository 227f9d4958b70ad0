#pragma once

#include <array>

#include "core/fields.h"
#include "data/plan.h"
#include "data/tasks/classification.h"
#include "data/tasks/labelled_file.h"
#include "data/text/shifted_spelling.h"
#include "data/text/split_files.h"
#include "data/text/text_units.h"

namespace weft::data {

/// The settings of data.kind = "labelled".
struct LabelledSettings {
  SplitFiles files{.fractions = {0.8, 0.1, 0.1}};
  LabelledColumns columns;
  TextUnits units;     ///< bytes or sentencepiece
  Index shortest = 1;  ///< tokens of a text; shorter ones are left out
  Meaning known = {};  ///< to a model that has been trained

  void fields(core::Fields& fields, Index length);
};

/// Texts and their classes, from files of two or more columns. Tokens are bytes or pieces, counted
/// from 1, and a text is cut at `length` of them; 0 is padding. Classes are the labels in order.
/// Training reads every text once per epoch, each time in a new order. One file is divided by
/// fractions in a random order that depends on the settings only; equal texts stay together, so
/// that no text is both held out and trained on.
class Labelled final : public Classification {
 public:
  Labelled(const LabelledSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return spelling_.vocabulary(); }
  Index classes() const override { return Index(names_.size()); }
  std::vector<std::string> class_names() const override { return names_; }
  std::optional<Index> training_tokens() const override;
  std::vector<Token> encode(std::string_view text) const override { return spelling_.encode(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return spelling_.decode(tokens);
  }
  std::optional<Spelling> spelling() const override { return spelling_.units(); }
  Token first_unit() const override { return 1; }
  std::vector<std::string> remarks() const override;
  std::string fingerprint() const override { return fingerprint_; }

 private:
  /// A text and the index of its label among the names. Bytes are cut at the length; of pieces the
  /// tokens are kept, and cut.
  struct Row {
    std::string text;
    Token label;
    std::vector<Token> pieces = {};
  };
  /// A file as it was read: its rows, without those that are too short.
  using Rows = std::vector<Row>;

  Example training_example(Index number) const override;
  Index scored(Split split) const override;
  Example scored_example(Split split, Index number) const override;

  void divide(Rows rows, const std::vector<double>& fractions);
  Rows& rows_of(Split split) { return rows_[std::size_t(split)]; }
  const Rows& rows_of(Split split) const { return rows_[std::size_t(split)]; }
  /// Nothing for a text that is too short.
  std::optional<Row> row_of(const std::string& text, Token label);
  Example example_of(const Row& row) const {
    return {row.pieces.empty() ? encode(row.text) : row.pieces, row.label};
  }

  ShiftedSpelling spelling_;
  Index shortest_;
  std::vector<std::string> names_;
  std::array<Rows, 3> rows_;
  Index cut_ = 0, left_out_ = 0;  ///< texts that are too long, and too short
  std::uint64_t seed_;
  std::string fingerprint_;
};

}  // namespace weft::data
