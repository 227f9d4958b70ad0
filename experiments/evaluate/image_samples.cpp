#include "experiments/evaluate/image_samples.h"

#include <algorithm>

#include "core/error.h"
#include "data/images/image_values.h"

namespace weft::experiments {

using core::Index;
using core::Token;

Values complete_image(const layers::LanguageModel& model, const core::ImageForm& form,
                      std::span<const Token> given, GenerationOptions options) {
  Values values(given.begin(), given.end());
  options.tokens = form.values() - Index(values.size());
  options.drawn = form.levels;
  if (options.tokens == 0) return values;
  Values prompt{Token(form.levels)};  // the token that begins every image
  prompt.insert(prompt.end(), values.begin(), values.end());
  const Generation drawn = generate(model, prompt, options);
  values.insert(values.end(), drawn.tokens.begin(), drawn.tokens.end());
  return values;
}

std::optional<Values> held_out_image(const data::Dataset& dataset, data::Split split,
                                     Index number) {
  const Index length = dataset.length();
  const Index batch = dataset.evaluation(split, 0, length).targets.shape()[0];
  if (number < 0 || number / batch >= dataset.evaluation_batches(split, length)) return {};
  const data::Batch found = dataset.evaluation(split, number / batch, length);
  const auto row =
      found.targets.read().subspan(std::size_t(number % batch * length), std::size_t(length));
  if (row[0] == core::no_target) return {};
  return Values(row.begin(), row.end());
}

data::Picture picture_of(std::span<const Token> values, const core::ImageForm& form) {
  constexpr std::uint8_t unknown = 128;
  data::Picture picture{form.rows, form.columns, form.channels};
  picture.pixels.assign(std::size_t(form.values()), unknown);
  for (std::size_t i = 0; i < values.size(); ++i)
    picture.pixels[i] = data::byte_of(values[i], form.levels);
  return picture;
}

data::Picture sheet_of(const std::vector<std::vector<data::Picture>>& rows) {
  core::require(!rows.empty() && !rows[0].empty(), "sheet_of: no pictures");
  const data::Picture& first = rows[0][0];
  std::size_t across = 0;
  for (const auto& row : rows) across = std::max(across, row.size());
  constexpr Index gap = 1;
  data::Picture sheet{Index(rows.size()) * (first.rows + gap) - gap,
                      Index(across) * (first.columns + gap) - gap, first.channels};
  sheet.pixels.assign(std::size_t(sheet.rows * sheet.row()), 255);
  for (std::size_t down = 0; down < rows.size(); ++down)
    for (std::size_t right = 0; right < rows[down].size(); ++right) {
      const data::Picture& picture = rows[down][right];
      const Index top = Index(down) * (first.rows + gap);
      const Index left = Index(right) * (first.columns + gap) * first.channels;
      for (Index r = 0; r < picture.rows; ++r)
        std::copy_n(picture.pixels.begin() + r * picture.row(), picture.row(),
                    sheet.pixels.begin() + (top + r) * sheet.row() + left);
    }
  return sheet;
}

std::vector<data::Picture> completed_row(const layers::LanguageModel& model,
                                         const core::ImageForm& form, const Values& image,
                                         Index given, const GenerationOptions& options) {
  const auto known = std::span(image).first(std::size_t(given));
  return {picture_of(image, form), picture_of(known, form),
          picture_of(complete_image(model, form, known, options), form)};
}

}  // namespace weft::experiments
