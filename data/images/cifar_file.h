#pragma once

#include "data/images/picture.h"

namespace weft::data {

/// Images of a CIFAR-10 binary file: records of 3,073 bytes, the class (0 .. 9), then 1,024 red,
/// 1,024 green and 1,024 blue values of 32 rows. Here the three values of a pixel follow each
/// other.
PictureSet read_cifar(const std::string& path);

}  // namespace weft::data
