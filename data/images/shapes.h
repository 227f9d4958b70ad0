#pragma once

#include "core/fields.h"
#include "core/rng.h"
#include "data/images/image_splits.h"

namespace weft::data {

/// The settings of data.kind = "shapes".
struct ShapesSettings {
  ImagesForm form = ImagesForm::language;
  Index side = 16;       ///< pixels
  Index images = 4096;   ///< of the training split
  Index held_out = 256;  ///< of the validation split, and as many of the test split

  void fields(core::Fields& fields);
};

/// Square grey images of one shape each, its class: an ellipse, a rectangle or a cross of one tone
/// on a background of another. Position, size and both tones are random; images depend on the
/// settings only.
ImageSplits draw_shapes(const ShapesSettings& settings);

}  // namespace weft::data
