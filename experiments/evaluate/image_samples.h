#pragma once

#include "data/dataset.h"
#include "data/images/picture.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {

/// Values of images that a model draws, and pictures of them.
using Values = std::vector<core::Token>;

/// Draws what is missing at the end of each image, together; of an empty one all of it. The seed
/// of each is one above that of the image before it. The options' number of tokens is not read.
std::vector<Values> complete_images(const layers::LanguageModel& model, const core::ImageForm& form,
                                    std::vector<Values> images, GenerationOptions options);

/// The values of a held-out image, counted from 0; nothing where the split has fewer.
std::optional<Values> held_out_image(const data::Dataset& dataset, data::Split split,
                                     core::Index number);

/// An image whose first values are known; the rest is grey.
data::Picture picture_of(std::span<const core::Token> values, const core::ImageForm& form);

/// Pictures of one size laid out in rows, one pixel apart; rows may differ in length.
data::Picture sheet_of(const std::vector<std::vector<data::Picture>>& rows);

/// Rows of a sheet: an image, its first `given` values, and these completed by the model.
std::vector<std::vector<data::Picture>> completed_rows(const layers::LanguageModel& model,
                                                       const core::ImageForm& form,
                                                       const std::vector<Values>& images,
                                                       core::Index given,
                                                       const GenerationOptions& options);

}  // namespace weft::experiments
