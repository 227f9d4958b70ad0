#include <algorithm>

#include "data/text/text.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::text_evaluation_test {
namespace {

/// A text in which every character occurs once, so that a token tells its place.
std::string places(Index size) {
  std::string text;
  for (Index i = 0; i < size; ++i) {
    const auto character = std::uint32_t(0x4e00 + i);
    text += {char(0xe0 | character >> 12), char(0x80 | (character >> 6 & 0x3f)),
             char(0x80 | (character & 0x3f))};
  }
  return text;
}

TextSettings validation_only(const ScratchFile& training, const ScratchFile& validation) {
  TextSettings settings;
  settings.files.train_path = training.path();
  settings.files.validation_path = validation.path();
  settings.units.kind = Unit::characters;
  return settings;
}

/// How often each place of the validation split is scored; every input stands right before it.
std::vector<int> scored(const Text& text, Index stride) {
  std::vector<int> counts(std::size_t(text.tokens(Split::validation)), 0);
  for (Index i = 0; i < text.evaluation_batches(Split::validation, stride); ++i) {
    const Batch batch = text.evaluation(Split::validation, i, stride);
    const auto inputs = batch.inputs.read(), targets = batch.targets.read();
    for (std::size_t p = 0; p < targets.size(); ++p) {
      if (targets[p] == core::no_target) continue;
      EXPECT_EQ(inputs[p] + 1, targets[p]);
      ++counts[std::size_t(targets[p])];
    }
  }
  return counts;
}

TEST(TextEvaluation, scores_each_token_exactly_once_at_any_length_batch_and_stride) {
  for (const Index size : {2, 3, 17, 64, 65, 66, 200}) {
    const ScratchFile training(places(200)), validation(places(size));
    std::vector<int> once(std::size_t(size), 1);
    once[0] = 0;  // nothing stands before the first
    for (const Index length : {1, 8, 64}) {
      for (const Index batch : {1, 3, 8}) {
        const Text text(validation_only(training, validation), length, batch, 1);
        for (const Index stride : {Index(1), length / 2, length}) {
          if (stride > 0) {
            EXPECT_EQ(scored(text, stride), once) << size << " tokens, length " << length
                                                  << ", batch " << batch << ", stride " << stride;
          }
        }
      }
    }
  }
}

TEST(TextEvaluation, scores_only_the_last_stride_tokens_of_later_windows) {
  const ScratchFile training(places(100)), validation(places(41));
  const Text text(validation_only(training, validation), 16, 4, 1);
  const Batch batch = text.evaluation(Split::validation, 0, 8);
  const auto targets = batch.targets.read();
  EXPECT_EQ(std::ranges::count(targets.first(16), core::no_target), 0);
  for (std::size_t row = 1; row < 4; ++row) {
    EXPECT_EQ(std::ranges::count(targets.subspan(16 * row, 8), core::no_target), 8);
    EXPECT_EQ(std::ranges::count(targets.subspan(16 * row + 8, 8), core::no_target), 0);
  }
}

TEST(TextEvaluation, pads_every_batch_to_the_same_shape) {
  const ScratchFile training(places(100)), validation(places(10));
  const Text text(validation_only(training, validation), 16, 4, 1);
  EXPECT_EQ(text.evaluation_batches(Split::validation, 16), 1);
  const Batch batch = text.evaluation(Split::validation, 0, 16);
  EXPECT_EQ(batch.inputs.shape(), (core::Shape{4, 16}));
  EXPECT_EQ(std::ranges::count(batch.targets.read(), core::no_target), 4 * 16 - 9);
  EXPECT_EQ(std::ranges::count_if(batch.inputs.read(), [](Token t) { return t < 0; }), 0);
}

TEST(TextEvaluation, works_on_the_training_split_as_well) {
  const ScratchFile file(places(101));
  TextSettings settings;
  settings.files.path = file.path();
  settings.units.kind = Unit::characters;
  settings.files.fractions = {1, 0, 0};
  const Text text(settings, 10, 5, 1);
  EXPECT_EQ(text.evaluation_batches(Split::training, 10), 2);
}

TEST(TextEvaluation, refuses_batches_and_strides_that_do_not_exist) {
  const ScratchFile training(places(100)), validation(places(41));
  const Text text(validation_only(training, validation), 16, 4, 1);
  EXPECT_THROW(text.evaluation(Split::validation, 1, 16), core::Error);
  EXPECT_THROW(text.evaluation(Split::validation, -1, 16), core::Error);
  EXPECT_THROW(text.evaluation_batches(Split::validation, 17), core::Error);
  EXPECT_THROW(text.training(-1), core::Error);
}

TEST(TextEvaluation, of_streams_goes_on_in_every_row_and_scores_each_token_once) {
  for (const Index size : {30, 97, 200}) {
    const ScratchFile training(places(200)), validation(places(size));
    TextSettings settings = validation_only(training, validation);
    settings.sampling = TextSettings::Sampling::streams;
    const Text text(settings, 8, 3, 1);
    std::vector<int> once(std::size_t(size), 1);
    once[0] = 0;
    EXPECT_EQ(scored(text, 8), once) << size;
    EXPECT_EQ(scored(text, 4), once) << size;
    for (Index i = 0; i < text.evaluation_batches(Split::validation, 8); ++i) {
      const Batch batch = text.evaluation(Split::validation, i, 8);
      EXPECT_EQ(batch.continues, i > 0);
      EXPECT_FALSE(text.evaluation(Split::validation, i, 4).continues);
      if (i == 0) continue;
      const Batch before = text.evaluation(Split::validation, i - 1, 8);
      for (std::size_t row = 0; row < 3; ++row) {
        if (batch.targets.read()[8 * row] != core::no_target) {
          EXPECT_EQ(batch.inputs.read()[8 * row], before.targets.read()[8 * row + 7]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::data::text_evaluation_test
