#include "data/images/image_classes.h"

#include "core/error.h"

namespace weft::data {

ImageClasses::ImageClasses(ImageSplits images, Index length, Index batch, std::uint64_t seed)
    : Classification(length, batch, false), images_(std::move(images)), seed_(seed) {
  images_.require_length(length);
  if (classes() < 2)
    throw core::Error(core::Fault::data,
                      "all images of training are of one class: name labels that differ");
}

Example ImageClasses::example(Split split, Index number) const {
  const auto image = images_.image(split, number);
  return {{image.begin(), image.end()}, images_.label(split, number)};
}

}  // namespace weft::data
