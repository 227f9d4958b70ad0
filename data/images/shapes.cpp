#include "data/images/shapes.h"

#include <cmath>

#include "core/error.h"
#include "data/images/image_plan.h"
#include "data/tasks/generated.h"

namespace weft::data {
namespace {

enum Shape { ellipse, rectangle, cross, shapes };

/// Whether a shape of half sizes 1 x 1 covers a point that is dr down and dc to the right of its
/// centre.
bool covers(Shape shape, double dr, double dc) {
  if (shape == ellipse) return dr * dr + dc * dc <= 1;
  const bool inside = std::abs(dr) <= 1 && std::abs(dc) <= 1;
  if (shape == rectangle) return inside;
  return inside && (std::abs(dr) <= 0.34 || std::abs(dc) <= 0.34);
}

/// Draws one image and appends it.
void draw(const core::Rng& stream, Index side, PictureSet& to) {
  const auto shape = Shape(stream.below(0, shapes));
  const auto between = [&](std::uint64_t i, double low, double high) {
    return low + (high - low) * stream.uniform(i);
  };
  const double n = double(side);
  const double height = between(1, 0.15 * n, 0.4 * n), width = between(2, 0.15 * n, 0.4 * n);
  const double row = between(3, height, n - height), column = between(4, width, n - width);
  const auto background = std::uint8_t(16 * stream.below(5, 6));
  const auto tone = std::uint8_t(16 * stream.below(6, 6) + 160);
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c)
      to.pixels.push_back(
          covers(shape, (double(r) + 0.5 - row) / height, (double(c) + 0.5 - column) / width)
              ? tone
              : background);
  to.labels.push_back(std::uint8_t(shape));
  ++to.count;
}

}  // namespace

void ShapesSettings::fields(core::Fields& fields) {
  fields.choice("form", form,
                "language: an image is a sequence of values, each predicted from those before it; "
                "classify: an image has a class, its shape",
                {{"language", ImagesForm::language}, {"classify", ImagesForm::classify}});
  fields.integer("side", side, "pixels of a row and of a column", core::between(8, 256));
  fields.integer("images", images, "images to train on", core::between(1, 1 << 20));
  list_held_out(fields, held_out);
}

ImageSplits draw_shapes(const ShapesSettings& settings) {
  std::array<PictureSet, 3> splits;
  for (const Split split : {Split::training, Split::validation, Split::test}) {
    PictureSet& own = splits[std::size_t(split)];
    own.form = {.rows = settings.side, .columns = settings.side};
    own.class_names = {"ellipse", "rectangle", "cross"};
    const core::Rng streams = core::Rng(0).fold("shapes").fold(name_of(split));
    const Index count = split == Split::training ? settings.images : settings.held_out;
    for (Index i = 0; i < count; ++i) draw(streams.fold(std::uint64_t(i)), settings.side, own);
  }
  return ImageSplits(std::move(splits), "shapes");
}

DataPlan configure_shapes(core::Fields& fields, Index length) {
  ShapesSettings settings;
  settings.fields(fields);
  return plan_for_images([=] { return draw_shapes(settings); }, settings.form, true, length);
}

}  // namespace weft::data
