#pragma once

#include <array>
#include <span>

#include "core/fields.h"
#include "data/dataset.h"
#include "data/images/image_values.h"
#include "data/text/split_files.h"

namespace weft::data {

/// The purpose for which images are read: as values to be predicted one after the other, or for
/// their class.
enum class ImagesForm { language, classify };

/// The settings of data.kind = "images".
struct ImagesSettings {
  SplitFiles files{.fractions = {0.8, 0.1, 0.1}};
  std::string labels_path = {}, validation_labels_path = {}, test_labels_path = {};
  Index held_out = 0;  ///< 0: see default_held_out
  ImageReduction reduction;
  ImagesForm form = ImagesForm::language;

  bool classifies() const { return form == ImagesForm::classify; }
  void fields(core::Fields& fields);
};

/// The images of training, validation and test, and where known the class of each.
class ImageSplits {
 public:
  /// Reads the files. Validation without a separate file is the last `held_out` images of
  /// training's. One file for all splits is divided by fractions in a random order that depends on
  /// the images' number only; equal images stay together.
  explicit ImageSplits(const ImagesSettings& settings);
  /// Images that a program made, of one form; `identity` is what they are, for the fingerprint.
  ImageSplits(std::array<PictureSet, 3> splits, const std::string& identity);

  const core::ImageForm& form() const { return form_; }
  /// A usage error unless sequences of `length` hold exactly the values of an image.
  void require_length(Index length) const;
  /// How many images a split has.
  Index count(Split split) const { return set(split).count; }
  /// The same; a split without images is a data error.
  Index scored(Split split) const;
  /// The values of an image, in order.
  std::span<const std::uint8_t> image(Split split, Index number) const;
  /// Its class.
  Token label(Split split, Index number) const { return set(split).labels[std::size_t(number)]; }
  /// Which image of training comes at a place, counted from 0 without end: each once per epoch,
  /// every time in a new order.
  Index shuffled(Index place, std::uint64_t seed) const;
  const std::vector<std::string>& class_names() const { return class_names_; }
  std::string fingerprint() const { return fingerprint_; }

 private:
  const PictureSet& set(Split split) const { return sets_[std::size_t(split)]; }
  void divide(const PictureSet& all, const std::vector<double>& fractions);
  void hold_out(Index held_out, const std::string& path);
  /// Checks forms and labels and names the classes.
  void finish(const std::string& identity);

  core::ImageForm form_;
  std::array<PictureSet, 3> sets_;
  std::vector<std::string> class_names_;
  std::string fingerprint_;
};

}  // namespace weft::data
