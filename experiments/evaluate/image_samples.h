#pragma once

#include "data/dataset.h"
#include "data/images/picture.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {

/// Values of images that a model draws, and pictures of them.
using Values = std::vector<core::Token>;

/// Draws the values that follow the first ones of an image; of nothing, the whole image. Of the
/// options, the number of tokens is not read.
Values complete_image(const layers::LanguageModel& model, const core::ImageForm& form,
                      std::span<const core::Token> given, GenerationOptions options);

/// The values of a held-out image, counted from 0; nothing where the split has fewer.
std::optional<Values> held_out_image(const data::Dataset& dataset, data::Split split,
                                     core::Index number);

/// An image whose first values are known; the rest is grey.
data::Picture picture_of(std::span<const core::Token> values, const core::ImageForm& form);

/// Pictures of one size laid out in rows, one pixel apart; rows may differ in length.
data::Picture sheet_of(const std::vector<std::vector<data::Picture>>& rows);

/// A row of a sheet: an image, its first `given` values, and these completed by the model.
std::vector<data::Picture> completed_row(const layers::LanguageModel& model,
                                         const core::ImageForm& form, const Values& image,
                                         core::Index given, const GenerationOptions& options);

}  // namespace weft::experiments
