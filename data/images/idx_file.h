#pragma once

#include "data/images/picture.h"

namespace weft::data {

/// Images of an IDX file, the format of MNIST, plain or compressed with gzip: the numbers 0x803,
/// images, rows and columns, 4 bytes each with the highest first, then one byte for each value.
PictureSet read_idx_images(const std::string& path);

/// Labels of an IDX file: the numbers 0x801 and labels, then one byte for each.
std::vector<std::uint8_t> read_idx_labels(const std::string& path);

}  // namespace weft::data
