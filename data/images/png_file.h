#pragma once

#include "data/images/picture.h"

namespace weft::data {

/// A PNG file as grey values or as red, green and blue, 8 bits each: palettes are looked up, 16
/// bits are rounded to 8, and transparency is left out.
Picture read_png(const std::string& path);

/// The bytes of a PNG file.
std::string encode_png(const Picture& picture);

}  // namespace weft::data
