#pragma once

#include <span>
#include <string_view>

#include "core/arrays/tokens.h"
#include "data/images/picture.h"

namespace weft::data {

/// Whether coloured pixels keep their three values or get one:
/// round(0.299 R + 0.587 G + 0.114 B).
enum class Colour { as_is, grey };

/// What is done to images before they are read as values.
struct ImageReduction {
  Colour colour = Colour::as_is;
  Index shrink = 1;    ///< each s x s block becomes its mean, a half rounded up
  Index levels = 256;  ///< value v becomes v levels / 256, rounded down

  /// Whether values are as they were in the file, so that bits compare with published ones.
  bool keeps_values() const { return shrink == 1 && levels == 256; }
};

/// Reduces the images of a file; a side that is no multiple of shrink is a data error.
PictureSet reduce(PictureSet images, const ImageReduction& reduction, const std::string& path);

/// A value 0 .. levels - 1 as a byte again, for an image that people look at.
std::uint8_t byte_of(Index value, Index levels);

/// Values as text: numbers from 0 on, divided by spaces.
std::string values_text(std::span<const core::Token> values);
std::vector<core::Token> read_values(std::string_view text);

}  // namespace weft::data
