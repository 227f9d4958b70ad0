#include "experiments/evaluate/image_samples.h"

#include <algorithm>

#include "core/error.h"
#include "data/images/image_values.h"

namespace weft::experiments {

using core::Index;
using core::Token;

std::vector<Values> complete_images(const layers::LanguageModel& model, const core::ImageForm& form,
                                    std::vector<Values> images, GenerationOptions options) {
  options.drawn = form.levels;
  std::vector<GenerationTask> tasks;
  std::vector<std::size_t> incomplete;
  for (std::size_t i = 0; i < images.size(); ++i, ++options.seed) {
    options.tokens = form.values() - Index(images[i].size());
    if (options.tokens == 0) continue;
    Values prompt{Token(form.levels)};  // the token that begins every image
    prompt.insert(prompt.end(), images[i].begin(), images[i].end());
    tasks.push_back({std::move(prompt), options});
    incomplete.push_back(i);
  }
  const std::vector<Generation> drawn = generate(model, tasks);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Values& image = images[incomplete[i]];
    image.insert(image.end(), drawn[i].tokens.begin(), drawn[i].tokens.end());
  }
  return images;
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

std::vector<std::vector<data::Picture>> completed_rows(const layers::LanguageModel& model,
                                                       const core::ImageForm& form,
                                                       const std::vector<Values>& images,
                                                       Index given,
                                                       const GenerationOptions& options) {
  std::vector<Values> known;
  for (const Values& image : images) known.emplace_back(image.begin(), image.begin() + given);
  const std::vector<Values> completed = complete_images(model, form, known, options);
  std::vector<std::vector<data::Picture>> rows;
  for (std::size_t i = 0; i < images.size(); ++i)
    rows.push_back(
        {picture_of(images[i], form), picture_of(known[i], form), picture_of(completed[i], form)});
  return rows;
}

}  // namespace weft::experiments
