#pragma once

#include "data/images/image_splits.h"
#include "data/tasks/classification.h"

namespace weft::data {

/// Images and their classes. A sequence is an image's values, all of them real, black ones too;
/// the token of a value is the value itself.
class ImageClasses final : public Classification {
 public:
  /// `length` must be the number of an image's values.
  ImageClasses(ImageSplits images, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return images_.form().levels; }
  Index classes() const override { return Index(images_.class_names().size()); }
  std::vector<std::string> class_names() const override { return images_.class_names(); }
  std::optional<Index> training_tokens() const override {
    return images_.count(Split::training) * length();
  }
  std::vector<Token> encode(std::string_view text) const override { return read_values(text); }
  std::string decode(std::span<const Token> tokens) const override { return values_text(tokens); }
  std::optional<core::ImageForm> image() const override { return images_.form(); }
  std::string fingerprint() const override { return images_.fingerprint(); }

 private:
  Example training_example(Index number) const override {
    return example(Split::training, images_.shuffled(number, seed_));
  }
  Index scored(Split split) const override { return images_.scored(split); }
  Example scored_example(Split split, Index number) const override {
    return example(split, number);
  }
  Example example(Split split, Index number) const;

  ImageSplits images_;
  std::uint64_t seed_;
};

}  // namespace weft::data
