#include <cmath>
#include <map>
#include <set>

#include "core/rng.h"
#include "data/images/image_classes.h"
#include "data/images/image_sequences.h"
#include "data/images/value_tables.h"
#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/images/image_bytes.h"
#include "tests/data/refusal.h"

namespace weft::data::images_test {
namespace {

/// Twenty images of 2 x 3 whose values are their own number.
std::string numbered() {
  return idx_images(20, 2, 3, [](std::uint32_t i) { return i / 6; });
}

/// The first value of every image that is scored of a split.
std::vector<Token> images_in(const Dataset& data, Split split) {
  std::vector<Token> firsts;
  for (Index i = 0; i < data.evaluation_batches(split, data.length()); ++i) {
    const Batch batch = data.evaluation(split, i, data.length());
    for (Index row = 0; row < batch.targets.shape()[0]; ++row)
      if (const Token t = batch.targets.read()[std::size_t(row * batch.targets.shape()[1])];
          t != core::no_target)
        firsts.push_back(t);
  }
  return firsts;
}

TEST(Images, are_sequences_that_begin_with_a_token_of_its_own_and_score_every_value) {
  const ScratchFolder folder;
  const std::string path = folder.write("x", idx_images(4, 2, 3, [](auto i) { return i; }));
  const GivenData given({{"kind", string("images")},
                         {"length", Index(6)},
                         {"train_path", path},
                         {"validation_path", path}});
  EXPECT_EQ(given.problems(), Keys{});
  EXPECT_TRUE(given.traits().images);
  EXPECT_FALSE(given.traits().classifies);
  const auto data = given.make(3, 1);
  EXPECT_EQ(data->vocabulary(), 257);
  EXPECT_EQ(data->training_tokens(), 24);
  EXPECT_EQ(data->unit(), "dimension");
  const Batch batch = data->evaluation(Split::validation, 0, 6);
  const std::vector<Token> inputs{256, 0, 1, 2, 3, 4, 256, 6, 7, 8, 9, 10, 256, 12, 13, 14, 15, 16};
  EXPECT_TRUE(std::ranges::equal(batch.inputs.read(), inputs));
  std::vector<Token> targets(18);
  for (int i = 0; i < 18; ++i) targets[std::size_t(i)] = i;
  EXPECT_TRUE(std::ranges::equal(batch.targets.read(), targets));
  EXPECT_EQ(images_in(*data, Split::validation), (std::vector<Token>{0, 6, 12, 18}));
  EXPECT_TRUE(same(data->training(7), given.make(3, 1)->training(7)));
}

TEST(Images, validate_on_the_last_of_training_where_validation_has_no_file) {
  const ScratchFolder folder;
  const std::string path = folder.write("x", numbered());
  tests::Settings settings{{"kind", string("images")}, {"length", Index(6)}, {"train_path", path}};
  EXPECT_EQ(images_in(*GivenData(settings).make(4, 1), Split::validation),
            (std::vector<Token>{18, 19}));
  settings["held_out"] = Index(5);
  const auto data = GivenData(settings).make(4, 1);
  EXPECT_EQ(images_in(*data, Split::validation), (std::vector<Token>{15, 16, 17, 18, 19}));
  EXPECT_EQ(data->training_tokens(), 15 * 6);
  expect_says(refusal_of([&] { data->evaluation_batches(Split::test, 6); }), core::Fault::data,
              "the test split holds no image", "data.test_path");
  settings["held_out"] = Index(20);
  expect_says(refusal_of([&] { GivenData(settings).make(4, 1); }), core::Fault::data, "held_out");
}

TEST(Images, read_every_image_of_training_once_an_epoch_in_new_orders) {
  const ScratchFolder folder;
  const GivenData given({{"kind", string("images")},
                         {"length", Index(6)},
                         {"train_path", folder.write("x", numbered())}});
  const auto data = given.make(6, 3);
  std::vector<Token> order;
  for (Index number = 0; number < 6; ++number)
    for (Index row = 0; row < 6; ++row)
      order.push_back(data->training(number).targets.read()[std::size_t(row * 6)]);
  const std::vector<Token> first(order.begin(), order.begin() + 18),
      second(order.begin() + 18, order.end());
  EXPECT_EQ(std::set<Token>(first.begin(), first.end()).size(), 18u);
  EXPECT_EQ(std::set<Token>(second.begin(), second.end()).size(), 18u);
  EXPECT_NE(first, second);
}

TEST(Images, of_one_path_are_divided_so_that_equal_images_stay_together) {
  const ScratchFolder folder;
  // Forty images, two of each.
  const std::string path =
      folder.write("x", idx_images(40, 1, 2, [](auto i) { return i / 2 % 20; }));
  const GivenData given({{"kind", string("images")}, {"length", Index(2)}, {"path", path}});
  const auto data = given.make(4, 1);
  std::map<Token, std::set<int>> splits;
  Index total = data->training_tokens().value() / 2;
  for (Index i = 0; i < 40; ++i) splits[data->training(i).targets.read()[0]].insert(0);
  for (const Split split : {Split::validation, Split::test})
    for (const Token first : images_in(*data, split)) {
      splits[first].insert(int(split));
      ++total;
    }
  EXPECT_EQ(total, 40);
  for (const auto& [image, own] : splits) EXPECT_EQ(own.size(), 1u) << image;
}

TEST(Images, shrink_by_means_rounded_half_up_and_count_in_levels) {
  // Blocks of 2 x 2: 0 1 4 5 -> 2.5 -> 3; 2 3 6 7 -> 4.5 -> 5.
  PictureSet set{.form = {.rows = 2, .columns = 4}, .count = 1, .pixels = {0, 1, 2, 3, 4, 5, 6, 7}};
  const PictureSet half = reduce(set, {.shrink = 2}, "file");
  EXPECT_EQ(half.pixels, (Pixels{3, 5}));
  EXPECT_EQ(half.form, (core::ImageForm{.rows = 1, .columns = 2}));
  PictureSet bright{.form = {.rows = 1, .columns = 4}, .count = 1, .pixels = {0, 63, 64, 255}};
  EXPECT_EQ(reduce(bright, {.levels = 4}, "file").pixels, (Pixels{0, 0, 1, 3}));
  EXPECT_EQ(byte_of(3, 4), 255);
  EXPECT_EQ(byte_of(1, 4), 85);
  expect_says(refusal_of([&] { reduce(set, {.shrink = 3}, "file"); }), core::Fault::data, "file",
              "data.shrink = 3");
  PictureSet colour{.form = {.rows = 1, .columns = 2, .channels = 3},
                    .count = 1,
                    .pixels = {255, 0, 0, 10, 20, 30}};
  const PictureSet grey = reduce(colour, {.colour = Colour::grey}, "file");
  EXPECT_EQ(grey.pixels, (Pixels{76, 18}));  // 76.245 and 18.15
  EXPECT_EQ(grey.form.channels, 1);
}

TEST(Images, say_in_their_unit_how_they_are_reduced) {
  const ScratchFolder folder;
  const std::string path = folder.write("x", idx_images(20, 4, 4, [](auto i) { return i % 256; }));
  const GivenData given({{"kind", string("images")},
                         {"length", Index(4)},
                         {"train_path", path},
                         {"shrink", Index(2)},
                         {"levels", Index(16)}});
  const auto data = given.make(4, 1);
  EXPECT_EQ(data->unit(), "dimension at 2x2 in 16 levels");
  EXPECT_EQ(data->vocabulary(), 17);
  EXPECT_EQ(data->image(), (core::ImageForm{.rows = 2, .columns = 2, .channels = 1, .levels = 16}));
}

TEST(Images, have_classes_by_labels_beside_them) {
  const ScratchFolder folder;
  const std::string path = folder.write("x", numbered());
  std::vector<int> labels(20, 1);
  labels[3] = 0;
  labels[19] = 2;
  tests::Settings settings{{"kind", string("images")},
                           {"form", string("classify")},
                           {"length", Index(6)},
                           {"train_path", path},
                           {"validation_path", path},
                           {"labels_path", folder.write("l", idx_labels(labels))},
                           {"validation_labels_path", folder.write("v", idx_labels(labels))}};
  const GivenData given(settings);
  EXPECT_TRUE(given.traits().classifies);
  const auto data = given.make(20, 1);
  EXPECT_EQ(data->classes(), 3);
  EXPECT_EQ(data->vocabulary(), 256);
  const Batch batch = data->evaluation(Split::validation, 0, 6);
  EXPECT_TRUE(std::ranges::equal(batch.targets.read(), labels));
  EXPECT_EQ(batch.inputs.read()[6 * 7], 7);
  EXPECT_EQ(batch.lengths, nullptr);  // every pixel is real, black ones too
  EXPECT_DOUBLE_EQ(data->baselines(Split::validation)[0].accuracy, 0.9);

  settings["validation_labels_path"] = folder.write("w", idx_labels({0, 1}));
  expect_says(refusal_of([&] { GivenData(settings).make(4, 1); }), core::Fault::data, "2 labels",
              "20 images");
  labels[7] = 9;
  settings["validation_labels_path"] = folder.write("u", idx_labels(labels));
  expect_says(refusal_of([&] { GivenData(settings).make(4, 1); }), core::Fault::data, "image 7",
              "validation", "no image of training");
  settings.erase("validation_labels_path");
  expect_says(refusal_of([&] { GivenData(settings).make(4, 1); }), core::Fault::data,
              "holds no classes", "data.validation_labels_path");
}

TEST(Images, of_splits_that_differ_in_size_are_refused) {
  const ScratchFolder folder;
  const GivenData given(
      {{"kind", string("images")},
       {"length", Index(6)},
       {"train_path", folder.write("x", numbered())},
       {"test_path", folder.write("y", idx_images(2, 3, 3, [](auto) { return 0; }))}});
  expect_says(refusal_of([&] { given.make(4, 1); }), core::Fault::data, "test", "3 x 3", "2 x 3");
}

TEST(Images, ask_for_the_length_that_they_have) {
  const ScratchFolder folder;
  const std::string path = folder.write("x", numbered());
  const GivenData given({{"kind", string("images")}, {"length", Index(5)}, {"train_path", path}});
  expect_says(refusal_of([&] { given.make(4, 1); }), core::Fault::usage, "set data.length = 6");
}

TEST(Images, change_their_fingerprint_with_any_value_and_label) {
  const ScratchFolder folder;
  std::string bytes = numbered();
  const auto fingerprint = [&](Index levels) {
    return GivenData({{"kind", string("images")},
                      {"length", Index(6)},
                      {"levels", levels},
                      {"train_path", folder.write("x", bytes)}})
        .make(4, 1)
        ->fingerprint();
  };
  std::set<std::string> all{fingerprint(256), fingerprint(128)};
  bytes.back() = 1;
  all.insert(fingerprint(256));
  EXPECT_EQ(all.size(), 3u);
}

TEST(ImageTables, give_the_bits_of_counts_with_one_added) {
  // Two images of 1 x 2 with values of two levels: 0 0 and 0 1.
  PictureSet training{
      .form = {.rows = 1, .columns = 2, .levels = 2}, .count = 2, .pixels = {0, 0, 0, 1}};
  PictureSet held_out{.form = {.rows = 1, .columns = 2, .levels = 2}, .count = 1, .pixels = {0, 1}};
  const ImageSplits images({training, held_out, held_out}, "two");
  const auto found = table_baselines(images, Split::validation);
  ASSERT_EQ(found.size(), 3u);
  // Values: 0 came 3 times of 4, so (3 + 1) / 6 and (1 + 1) / 6.
  EXPECT_NEAR(found[0].bits, (std::log2(6 / 4.0) + std::log2(6 / 2.0)) / 2, 1e-12);
  // Each place: 3 / 4, then 2 / 4.
  EXPECT_NEAR(found[1].bits, (std::log2(4 / 3.0) + 1) / 2, 1e-12);
  // The left is 0 or outside both times, and outside counts as 0: like values.
  EXPECT_NEAR(found[2].bits, found[0].bits, 1e-12);
  EXPECT_EQ(found[2].name, "left and up");
}

TEST(ImageTables, of_coloured_images_know_the_channel_before) {
  // Green always equals red, which is even noise: its table has it for nearly nothing.
  PictureSet set{.form = {.rows = 8, .columns = 8, .channels = 3, .levels = 2}, .count = 50};
  const core::Rng rng(1);
  for (Index i = 0; i < 50 * 64; ++i) {
    const auto red = std::uint8_t(rng.below(std::uint64_t(i), 2));
    set.pixels.insert(set.pixels.end(), {red, red, red});
  }
  const auto found = table_baselines(ImageSplits({set, set, set}, "noise"), Split::test);
  EXPECT_NEAR(found[0].bits, 1, 0.01);
  EXPECT_LT(found[2].bits, 0.8);
}

TEST(Shapes, are_drawn_by_settings_alone_and_have_three_classes) {
  const tests::Settings settings{{"kind", string("shapes")}, {"side", Index(8)},
                                 {"length", Index(64)},      {"images", Index(60)},
                                 {"held_out", Index(12)},    {"form", string("classify")}};
  const auto data = GivenData(settings).make(12, 1);
  EXPECT_EQ(data->class_names(), (std::vector<std::string>{"ellipse", "rectangle", "cross"}));
  EXPECT_TRUE(same(data->evaluation(Split::test, 0, 64),
                   GivenData(settings).make(12, 9)->evaluation(Split::test, 0, 64)));
  EXPECT_FALSE(
      same(data->evaluation(Split::test, 0, 64), data->evaluation(Split::validation, 0, 64)));
  // Two tones in each image.
  const Batch batch = data->training(0);
  for (Index row = 0; row < 12; ++row) {
    const auto image = batch.inputs.read().subspan(std::size_t(row * 64), 64);
    EXPECT_EQ(std::set<Token>(image.begin(), image.end()).size(), 2u);
  }
}

}  // namespace
}  // namespace weft::data::images_test
