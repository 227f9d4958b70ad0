#include "data/images/image_sequences.h"

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "data/images/value_tables.h"
#include "data/windows.h"

namespace weft::data {

ImageSequences::ImageSequences(ImageSplits images, Index length, Index batch, std::uint64_t seed,
                               bool keeps_values)
    : images_(std::move(images)), batch_(batch), seed_(seed), keeps_values_(keeps_values) {
  images_.require_length(length);
}

void ImageSequences::fill(BatchRows& rows, Index row, Split split, Index number) const {
  const auto image = images_.image(split, number);
  const auto inputs = rows.inputs(row);
  std::ranges::copy(image, rows.targets(row).begin());
  inputs[0] = Token(images_.form().levels);
  std::ranges::copy(image.first(image.size() - 1), inputs.begin() + 1);
}

Batch ImageSequences::read_training(Index number, core::Stretch asked) const {
  BatchRows rows(asked.size(), length());
  for (Index row = asked.begin; row < asked.end; ++row)
    fill(rows, row - asked.begin, Split::training, images_.shuffled(number * batch_ + row, seed_));
  return std::move(rows).finish();
}

std::optional<Index> ImageSequences::training_tokens() const {
  return images_.count(Split::training) * length();
}

Index ImageSequences::evaluation_batches(Split split, Index stride) const {
  check_stride(stride, length());
  return (images_.scored(split) + batch_ - 1) / batch_;
}

Batch ImageSequences::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  BatchRows rows(batch_, length());
  for (Index row = 0; row < batch_ && number * batch_ + row < images_.count(split); ++row)
    fill(rows, row, split, number * batch_ + row);
  return std::move(rows).finish();
}

std::vector<BitsBaseline> ImageSequences::bits_baselines(Split split) const {
  std::vector<BitsBaseline> found = table_baselines(images_, split);
  std::ranges::stable_sort(found, std::ranges::greater(), &BitsBaseline::bits);
  return found;
}

std::string ImageSequences::unit() const {
  if (keeps_values_) return "dimension";
  const core::ImageForm& form = images_.form();
  return core::message_of(
      "dimension at ", form.rows, "x", form.columns,
      form.levels < 256 ? core::message_of(" in ", form.levels, " levels") : "");
}

}  // namespace weft::data
