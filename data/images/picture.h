#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays/image_form.h"

namespace weft::data {

using core::Index;

/// Bytes of an image or of several images of one size: rows, columns, then channels.
using Pixels = std::vector<std::uint8_t>;

/// One image of grey (1 channel) or red, green and blue (3 channels) values of 8 bits.
struct Picture {
  Index rows = 0, columns = 0, channels = 1;
  Pixels pixels = {};

  Index row() const { return columns * channels; }
};

/// Images of one size, one after the other, and where known the class of each.
struct PictureSet {
  core::ImageForm form;
  Index count = 0;
  Pixels pixels = {};
  std::vector<std::uint8_t> labels = {};      ///< empty where unknown
  std::vector<std::string> class_names = {};  ///< empty where labels are numbers
};

}  // namespace weft::data
