#include "data/images/image_values.h"

#include <charconv>

#include "data/images/byte_source.h"

namespace weft::data {
namespace {

Pixels to_grey(const Pixels& pixels) {
  Pixels grey;
  grey.reserve(pixels.size() / 3);
  for (std::size_t i = 0; i + 2 < pixels.size(); i += 3)
    grey.push_back(
        std::uint8_t((299 * pixels[i] + 587 * pixels[i + 1] + 114 * pixels[i + 2] + 500) / 1000));
  return grey;
}

/// form: that of `pixels`
Pixels shrunk(const Pixels& pixels, Index count, const core::ImageForm& form, Index s) {
  Pixels small;
  small.reserve(pixels.size() / std::size_t(s * s));
  for (Index image = 0; image < count; ++image)
    for (Index r = 0; r < form.rows; r += s)
      for (Index c = 0; c < form.columns; c += s)
        for (Index channel = 0; channel < form.channels; ++channel) {
          Index sum = 0;
          for (Index dr = 0; dr < s; ++dr)
            for (Index dc = 0; dc < s; ++dc)
              sum += pixels[std::size_t(image * form.values() + (r + dr) * form.row() +
                                        (c + dc) * form.channels + channel)];
          small.push_back(std::uint8_t((2 * sum + s * s) / (2 * s * s)));
        }
  return small;
}

}  // namespace

PictureSet reduce(PictureSet images, const ImageReduction& reduction, const std::string& path) {
  core::ImageForm& form = images.form;
  if (reduction.colour == Colour::grey && form.channels == 3) {
    images.pixels = to_grey(images.pixels);
    form.channels = 1;
  }
  if (const Index s = reduction.shrink; s > 1) {
    if (form.rows % s != 0 || form.columns % s != 0)
      refuse_image(path, "holds images of ", form.rows, " x ", form.columns,
                   ", which are not whole blocks of data.shrink = ", s,
                   ": choose a divisor of both sides");
    images.pixels = shrunk(images.pixels, images.count, form, s);
    form.rows /= s;
    form.columns /= s;
  }
  form.levels = reduction.levels;
  if (reduction.levels < 256)
    for (std::uint8_t& value : images.pixels) value = std::uint8_t(value * reduction.levels / 256);
  return images;
}

std::uint8_t byte_of(Index value, Index levels) {
  return std::uint8_t((value * 255 + (levels - 1) / 2) / (levels - 1));
}

std::string values_text(std::span<const core::Token> values) {
  std::string text;
  for (const core::Token value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  return text;
}

std::vector<core::Token> read_values(std::string_view text) {
  std::vector<core::Token> values;
  const char *at = text.data(), *const end = text.data() + text.size();
  while (at != end) {
    core::Token value = 0;
    const auto [rest, fault] = std::from_chars(at, end, value);
    core::require(fault == std::errc() && value >= 0, "\"", text,
                  "\" is no list of values of an image: write numbers divided by spaces");
    values.push_back(value);
    for (at = rest; at != end && *at == ' ';) ++at;
  }
  return values;
}

}  // namespace weft::data
