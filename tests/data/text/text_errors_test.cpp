#include "data/text/text.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::text_errors_test {
namespace {

core::Error refusal(const TextSettings& settings, Index length = 8, Index batch = 1) {
  return refusal_of([&] { Text(settings, length, batch, 1); });
}

TextSettings settings_for(const std::string& path) {
  TextSettings settings;
  settings.files.path = path;
  return settings;
}

TEST(TextErrors, a_missing_file_is_named_with_where_it_was_looked_for) {
  expect_says(refusal(settings_for("no/such/file.txt")), core::Fault::data, "'no/such/file.txt'",
              "does not exist", std::filesystem::current_path().string(), "data.path");
}

TEST(TextErrors, an_empty_file_is_named) {
  const ScratchFile file("");
  expect_says(refusal(settings_for(file.path())), core::Fault::data, file.path(), "is empty");
}

TEST(TextErrors, a_folder_without_a_text_is_named) {
  const ScratchFile file("");
  expect_says(refusal(settings_for(file.folder())), core::Fault::data, file.folder(),
              "a folder without a file of text");
}

TEST(TextErrors, a_file_shorter_than_one_sequence_says_how_much_is_needed) {
  const ScratchFile file("short text");
  expect_says(refusal(settings_for(file.path()), 64), core::Fault::data, file.path(),
              "holds 9 bytes", "data.length + 1 = 65", "lower data.length");
}

TEST(TextErrors, a_training_split_of_exactly_one_sequence_is_enough) {
  const ScratchFile file("0123456789");
  EXPECT_NO_THROW(Text(settings_for(file.path()), 8, 1, 1));
  EXPECT_THROW(Text(settings_for(file.path()), 9, 1, 1), core::Error);
}

TEST(TextErrors, streams_that_are_too_short_say_what_to_lower) {
  const ScratchFile file(std::string(100, 'x'));
  TextSettings settings = settings_for(file.path());
  settings.sampling = TextSettings::Sampling::streams;
  expect_says(refusal(settings, 16, 8), core::Fault::data, "8 streams", "129", "train.batch",
              "data.sampling=crops");
}

TEST(TextErrors, invalid_utf8_is_located_by_its_byte) {
  const ScratchFile file("good text\xe2\x28 bad");
  TextSettings settings = settings_for(file.path());
  settings.units.kind = Unit::characters;
  expect_says(refusal(settings), core::Fault::data, file.path(), "not UTF-8 at byte 9",
              "data.units=bytes");
  EXPECT_NO_THROW(Text(settings_for(file.path()), 8, 1, 1));
}

TEST(TextErrors, a_split_without_data_says_how_to_get_one) {
  const ScratchFile file(std::string(100, 'x'));
  const Text text(settings_for(file.path()), 8, 1, 1);
  expect_says(refusal_of([&] { text.evaluation_batches(Split::test, 8); }), core::Fault::data,
              "test split holds 0 bytes", "data.fractions", "data.test_path");
  expect_says(refusal_of([&] { text.evaluation(Split::test, 0, 8); }), core::Fault::data,
              "test split");
}

TEST(TextErrors, contradictory_settings_are_refused) {
  const ScratchFile file(std::string(100, 'x'));
  TextSettings both = settings_for(file.path());
  both.files.train_path = file.path();
  expect_says(refusal(both), core::Fault::usage, "data.path", "data.train_path");
  expect_says(refusal(TextSettings{}), core::Fault::usage, "data.path");
  TextSettings settings = settings_for(file.path());
  settings.files.fractions = {0.9, 0.2, 0.0};
  expect_says(refusal(settings), core::Fault::usage, "data.fractions");
  settings.files.fractions = {0.9, 0.1};
  expect_says(refusal(settings), core::Fault::usage, "three numbers");
  expect_says(refusal_of([] { unit_named("words"); }), core::Fault::usage, "data.units", "'words'");
}

}  // namespace
}  // namespace weft::data::text_errors_test
