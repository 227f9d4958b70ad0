#pragma once

#include "data/text/masking.h"
#include "data/text/text.h"

namespace weft::data {

/// A text with hidden tokens to be filled in: masked language modelling. The vocabulary is that of
/// the text and the mask token. Training crops and what is hidden in them depend on (seed,
/// sequence). Evaluation reads the split in windows that do not overlap, except for the last, which
/// ends with the split and scores what the one before has not read; what is hidden there depends on
/// the number of the window.
class MaskedText final : public Dataset {
 public:
  MaskedText(const TextSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index length() const override { return text_.length(); }
  Index batch() const override { return batch_; }
  Index vocabulary() const override { return text_.vocabulary() + 1; }
  std::optional<Index> training_tokens() const override { return text_.training_tokens(); }
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override { return text_.encode(text); }
  /// That of the text; the mask token comes after its units.
  std::optional<Spelling> spelling() const override { return text_.spelling(); }
  std::optional<Token> document_end() const override { return text_.document_end(); }
  /// A hidden token prints as a full block.
  std::string decode(std::span<const Token> tokens) const override;
  std::string unit() const override { return "masked " + text_.token_name(); }
  std::string fingerprint() const override;
  /// Always predicting the token that is hidden most often; and predicting the token that is
  /// shown, which is right where a chosen token was kept.
  std::vector<Baseline> baselines(Split split) const override;
  bool predicts_next() const override { return false; }

 private:
  Batch read_training(Index number, core::Stretch rows) const override;
  /// Windows of a split; a data error where it is shorter than one.
  Index windows(Split split) const;

  Text text_;
  Masking masking_;
  MaskingSettings settings_;
  Index batch_;
  core::Rng training_;
};

}  // namespace weft::data
