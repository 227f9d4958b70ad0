#pragma once

#include "data/images/picture.h"

namespace weft::data {

/// Reads images from
///   an IDX file, plain or gzip;
///   a CIFAR-10 binary file (.bin), with its classes;
///   a PNG, PGM or PPM file;
///   a folder of PNG, PGM and PPM files, in the order of their names; or a folder of such folders,
///     each a class of its name;
///   a pattern with * or ? that names several such files, in the order of their names.
/// The kind of a file is detected by its first bytes, a CIFAR-10 file by its name. All images have
/// one size. Whatever is wrong is a data error that names the file or record and says what to do.
PictureSet read_images(const std::string& path);

}  // namespace weft::data
