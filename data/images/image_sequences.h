#pragma once

#include "data/batch_rows.h"
#include "data/images/image_splits.h"

namespace weft::data {

/// Images as sequences of values to be predicted: inputs are [begin, x_0 .. x_{D-2}], targets
/// x_0 .. x_{D-1}, so that every value is scored once, the first one too. The token of a value is
/// the value itself, `begin` the one after them. An image is one window, whatever the stride.
class ImageSequences final : public Dataset {
 public:
  /// `length` must be D.
  ImageSequences(ImageSplits images, Index length, Index batch, std::uint64_t seed,
                 bool keeps_values);

  Index length() const override { return images_.form().values(); }
  Index batch() const override { return batch_; }
  Index vocabulary() const override { return images_.form().levels + 1; }
  std::optional<Index> training_tokens() const override;
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override { return read_values(text); }
  std::string decode(std::span<const Token> tokens) const override { return values_text(tokens); }
  std::optional<core::ImageForm> image() const override { return images_.form(); }
  std::vector<BitsBaseline> bits_baselines(Split split) const override;
  /// A dimension; with reduced images it says how they are reduced, since bits do not compare then.
  std::string unit() const override;
  std::string fingerprint() const override { return images_.fingerprint(); }

 private:
  Batch read_training(Index number, core::Stretch rows) const override;
  void fill(BatchRows& rows, Index row, Split split, Index number) const;

  ImageSplits images_;
  Index batch_;
  std::uint64_t seed_;
  bool keeps_values_;
};

}  // namespace weft::data
