#pragma once

#include "data/images/picture.h"

namespace weft::data {

/// A PGM (grey) or PPM (red, green, blue) file with values of 8 bits, binary (P5, P6) or in digits
/// (P2, P3). Values below another maximum than 255 are scaled to it, rounded.
Picture read_netpbm(const std::string& path);

}  // namespace weft::data
