#include "experiments/commands/image_generation.h"

#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "data/images/png_file.h"
#include "experiments/console/output_file.h"
#include "experiments/evaluate/image_samples.h"
#include "experiments/train/run_model.h"

namespace weft::experiments {

void add_image_options(CommandLine& line) {
  line.option("image", "N", "complete held-out image N, from 0; without it, generate whole images")
      .option("rows", "N", "rows of the image that are given (half of them)")
      .option("split", "SPLIT", "where held-out images are taken from", "test")
      .option("output,o", "FILE.png", "where to write images", "image.png")
      .flag("force", "replace FILE.png");
}

namespace {

/// Whole images, in one row.
std::vector<std::vector<data::Picture>> drawn_row(const layers::LanguageModel& model,
                                                  const core::ImageForm& form, Index count,
                                                  const GenerationOptions& options) {
  std::vector<data::Picture> row;
  const std::vector<Values> nothing(static_cast<std::size_t>(count));
  for (const Values& image : complete_images(model, form, nothing, options))
    row.push_back(picture_of(image, form));
  return {row};
}

/// From the first rows of held-out images, beginning with number --image.
std::vector<std::vector<data::Picture>> rows_of_images(const CommandLine& line,
                                                       const TextModel& model, Index count,
                                                       const GenerationOptions& options) {
  const core::ImageForm& form = *model.image;
  const layers::LanguageModel& language = layers::as_language_model(*model.saved.model, "generate");
  const data::Split split = split_named(line.text("split"));
  const Index given = line.has("rows") ? line.integer("rows") : form.rows / 2;
  core::require(given >= 0 && given <= form.rows, "--rows ", given, " is not between 0 and ",
                form.rows, ", the rows of an image");
  const auto dataset = make_dataset(model.saved.config);
  const Index first = line.integer("image");
  std::vector<Values> images;
  for (Index i = first; i < first + count; ++i) {
    auto image = held_out_image(*dataset, split, i);
    core::require(image.has_value(), "--image ", i, ": the ", data::name_of(split),
                  " split has no such image; they count from 0");
    images.push_back(std::move(*image));
  }
  return completed_rows(language, form, images, given * form.row(), options);
}

}  // namespace

int generate_images(const CommandLine& line, const TextModel& model, Index count,
                    const GenerationOptions& options) {
  core::require(!line.has("prompt"),
                "--prompt: an image is not written as text; give the first rows of a held-out "
                "image with --image N --rows R");
  const std::string& file = line.text("output");
  check_output(file, {}, line.has("force"));
  const layers::LanguageModel& language = layers::as_language_model(*model.saved.model, "generate");
  const bool completes = line.has("image");
  const auto rows = completes ? rows_of_images(line, model, count, options)
                              : drawn_row(language, *model.image, count, options);
  core::write_durably(file, data::encode_png(sheet_of(rows)));
  std::cout << "wrote " << file << ": "
            << (completes ? "each row an image, what was given of it, and its completion"
                          : "generated images")
            << '\n';
  return 0;
}

}  // namespace weft::experiments
