#include "data/images/png_file.h"

#include <png.h>

#include <cstring>

#include "core/error.h"
#include "data/images/byte_source.h"

namespace weft::data {
namespace {

/// An image of libpng's simplified interface, freed in any case.
class PngImage {
 public:
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { ::png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  png_image image{};
};

}  // namespace

Picture read_png(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_image_bytes(path);
  PngImage png;
  const auto refuse = [&] {
    refuse_image(path, "is no readable PNG (", png.image.message,
                 "): it is cut off or damaged, fetch it again or remove it");
  };
  if (!::png_image_begin_read_from_memory(&png.image, bytes.data(), bytes.size())) refuse();
  const bool colour = png.image.format & PNG_FORMAT_FLAG_COLOR;
  png.image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  Picture picture{.rows = Index(png.image.height),
                  .columns = Index(png.image.width),
                  .channels = colour ? 3 : 1};
  if (picture.rows * picture.row() > most_unpacked(Index(bytes.size())))
    refuse_image(path, "its header announces ", picture.rows, " x ", picture.columns,
                 " pixels, more than ", bytes.size(),
                 " bytes of an image hold: it is damaged, fetch it again or remove it");
  picture.pixels.resize(std::size_t(picture.rows * picture.row()));
  const png_color black{};
  if (!::png_image_finish_read(&png.image, &black, picture.pixels.data(), 0, nullptr)) refuse();
  return picture;
}

std::string encode_png(const Picture& picture) {
  core::require(Index(picture.pixels.size()) == picture.rows * picture.row() &&
                    (picture.channels == 1 || picture.channels == 3) && picture.rows > 0,
                "encode_png: ", picture.pixels.size(), " values for ", picture.rows, " x ",
                picture.columns, " pixels of ", picture.channels, " channels");
  PngImage png;
  png.image.width = png_uint_32(picture.columns);
  png.image.height = png_uint_32(picture.rows);
  png.image.format = picture.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.image);
  std::string bytes(size, '\0');
  const bool written = ::png_image_write_to_memory(&png.image, bytes.data(), &size, 0,
                                                   picture.pixels.data(), 0, nullptr);
  core::require(written, "encode_png: ", png.image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace weft::data
