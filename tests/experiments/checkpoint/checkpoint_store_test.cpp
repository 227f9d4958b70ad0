#include <limits>
#include <set>

#include "core/error.h"
#include "core/files/file_seal.h"
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/store.h"
#include "tests/experiments/checkpoint/checkpoint_sample.h"
#include "tests/no_more_files.h"

namespace weft::experiments::checkpoint_store_test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> files_in(const fs::path& directory) {
  std::set<std::string> files;
  for (const auto& item : fs::directory_iterator(directory)) files.insert(item.path().filename());
  return files;
}

std::vector<CheckpointEntry> listed(const fs::path& pointer) {
  return parse_checkpoint_list(core::read_text_file(pointer));
}

TEST(CheckpointStore, loads_the_newest_and_lists_it_in_last_json) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 1);
  EXPECT_TRUE(store.empty());
  store.save(SampleRun(1).snapshot);
  const auto saved = store.save(SampleRun(2).snapshot);
  EXPECT_EQ(saved.path, directory / "ckpt-00000002.h5");
  EXPECT_EQ(saved.bytes, core::Index(fs::file_size(saved.path)));
  EXPECT_FALSE(saved.best);
  std::vector<std::string> warnings;
  CheckpointStore other(directory, 2, 1);
  EXPECT_TRUE(SampleRun(2).equals(other.load_last(warnings)));
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(listed(directory / "last.json"), store.list());
  EXPECT_EQ(store.list(), other.list());
}

TEST(CheckpointStore, keeps_the_last_and_the_best_and_nothing_else) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 2);
  core::write_durably(directory / "notes.txt", "mine");
  core::write_durably(directory / "ckpt-00000000.h5.tmp", "left by a killed writer");
  const std::vector<double> validations{5, 3, 4, 2, 9, 8, 7};
  for (std::size_t i = 0; i < validations.size(); ++i) {
    const auto saved = store.save(SampleRun(core::Index(i)).snapshot, validations[i]);
    EXPECT_EQ(saved.best, i == 0 || i == 1 || i == 3) << i;
  }
  EXPECT_EQ(files_in(directory),
            (std::set<std::string>{"ckpt-00000001.h5", "ckpt-00000003.h5", "ckpt-00000005.h5",
                                   "ckpt-00000006.h5", "last.json", "best.json", "notes.txt"}));
  EXPECT_EQ(listed(directory / "best.json"), store.best());
  EXPECT_EQ(store.best().front().step, 3);
  std::vector<std::string> warnings;
  EXPECT_TRUE(SampleRun(3).equals(CheckpointStore(directory, 2, 2).load_best(warnings)));
  EXPECT_TRUE(warnings.empty());
}

TEST(CheckpointStore, never_takes_a_non_finite_validation_for_the_best) {
  CheckpointStore store(fresh_directory(), 1, 1);
  store.save(SampleRun(1).snapshot, 2.0);
  EXPECT_FALSE(store.save(SampleRun(2).snapshot, std::numeric_limits<double>::quiet_NaN()).best);
  EXPECT_FALSE(store.save(SampleRun(3).snapshot, -std::numeric_limits<double>::infinity()).best);
  EXPECT_EQ(store.best().front().step, 1);
}

TEST(CheckpointStore, saves_the_same_step_again_in_place) {
  CheckpointStore store(fresh_directory(), 2, 1);
  store.save(SampleRun(1).snapshot);
  store.save(SampleRun(2).snapshot);
  store.save(SampleRun(2).snapshot, 1.0);
  ASSERT_EQ(store.list().size(), 2u);
  EXPECT_EQ(store.list()[0].validation, 1.0);
}

TEST(CheckpointStore, detects_any_flipped_bit_and_uses_the_one_before) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 0);
  store.save(SampleRun(1).snapshot);
  const fs::path newest = store.save(SampleRun(2).snapshot).path;
  const core::Index bits = core::Index(fs::file_size(newest)) * 8;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const core::Index bit = core::Rng(3).below(i, bits);
    flip_bit(newest, bit);
    std::vector<std::string> warnings;
    EXPECT_TRUE(SampleRun(1).equals(CheckpointStore(directory, 2, 0).load_last(warnings))) << bit;
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_TRUE(contains(warnings[0], "ckpt-00000002.h5")) << warnings[0];
    EXPECT_TRUE(contains(warnings[0], "using ckpt-00000001.h5")) << warnings[0];
    flip_bit(newest, bit);
  }
  std::vector<std::string> warnings;
  EXPECT_TRUE(SampleRun(2).equals(store.load_last(warnings)));
}

TEST(CheckpointStore, detects_truncation_anywhere_and_uses_the_one_before) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 0);
  store.save(SampleRun(1).snapshot);
  const fs::path newest = store.save(SampleRun(2).snapshot).path;
  const std::string whole = core::read_text_file(newest);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::size_t length = i == 0 ? 0
                               : i == 1
                                   ? whole.size() - 1
                                   : std::size_t(core::Rng(4).below(i, core::Index(whole.size())));
    core::write_durably(newest, std::string_view(whole).substr(0, length));
    std::vector<std::string> warnings;
    EXPECT_TRUE(SampleRun(1).equals(CheckpointStore(directory, 2, 0).load_last(warnings)));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_TRUE(contains(warnings[0], "ckpt-00000002.h5")) << warnings[0];
    EXPECT_TRUE(contains(warnings[0], "cut off")) << warnings[0];
  }
}

TEST(CheckpointStore, uses_the_one_before_when_the_newest_is_missing) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 0);
  store.save(SampleRun(1).snapshot);
  fs::remove(store.save(SampleRun(2).snapshot).path);
  std::vector<std::string> warnings;
  EXPECT_TRUE(SampleRun(1).equals(CheckpointStore(directory, 2, 0).load_last(warnings)));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(contains(warnings[0], "missing"));
}

TEST(CheckpointStore, does_not_fall_back_where_the_newest_is_whole_but_cannot_be_read_now) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 2);
  store.save(SampleRun(1).snapshot, 3.0);
  store.save(SampleRun(2).snapshot, 2.0);
  std::vector<std::string> warnings;
  {
    const NoMoreFiles limit;
    EXPECT_THROW(store.load_best(warnings), core::Unreadable);
    EXPECT_TRUE(contains(message_when([&] { store.load_last(warnings); }), "ulimit -n"));
  }
  EXPECT_TRUE(SampleRun(2).equals(store.load_best(warnings)));
  EXPECT_TRUE(SampleRun(2).equals(store.load_last(warnings)));
  EXPECT_TRUE(warnings.empty());
}

TEST(CheckpointStore, goes_on_from_the_one_it_fell_back_to) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 1);
  store.save(SampleRun(1).snapshot, 3.0);
  const fs::path newest = store.save(SampleRun(3).snapshot, 2.0).path;
  flip_bit(newest, 1000);
  std::vector<std::string> warnings;
  store.load_last(warnings);
  EXPECT_TRUE(fs::exists(newest));
  store.save(SampleRun(2).snapshot);
  EXPECT_EQ(files_in(directory), (std::set<std::string>{"ckpt-00000001.h5", "ckpt-00000002.h5",
                                                        "last.json", "best.json"}));
  EXPECT_EQ(store.best().front().step, 1);
}

TEST(CheckpointStore, finds_the_checkpoints_when_last_json_is_lost_or_damaged) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 3, 1);
  store.save(SampleRun(1).snapshot, 1.0);
  store.save(SampleRun(2).snapshot, 2.0);
  flip_bit(store.save(SampleRun(3).snapshot).path, 5000);
  const auto expect_second = [&](const std::string& what) {
    CheckpointStore found(directory, 2, 1);
    std::vector<std::string> warnings;
    EXPECT_EQ(found.best().front().step, 1);
    EXPECT_TRUE(SampleRun(2).equals(found.load_last(warnings)));
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_TRUE(contains(warnings[0], "last.json " + what)) << warnings[0];
    EXPECT_TRUE(contains(warnings[1], "ckpt-00000003.h5 is damaged")) << warnings[1];
  };
  flip_bit(directory / "last.json", 500);
  expect_second("is damaged");
  core::write_durably(directory / "last.json", "");
  expect_second("is damaged");
  fs::remove(directory / "last.json");
  expect_second("is missing");
}

TEST(CheckpointStore, uses_a_whole_checkpoint_that_was_not_listed_in_time) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 0);
  store.save(SampleRun(1).snapshot);
  SampleRun changed(1);
  changed.snapshot.facts["meta/note"] = std::string("saved again, killed before last.json");
  write_checkpoint(directory / "ckpt-00000001.h5", changed.snapshot);
  std::vector<std::string> warnings;
  EXPECT_TRUE(changed.equals(CheckpointStore(directory, 2, 0).load_last(warnings)));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(contains(warnings[0], "whole by its own seal"));
  flip_bit(directory / "ckpt-00000001.h5", 999);
  write_checkpoint(directory / "ckpt-00000002.h5", SampleRun(2).snapshot);
  EXPECT_TRUE(SampleRun(2).equals(CheckpointStore(directory, 2, 0).load_last(warnings)));
}

TEST(CheckpointStore, names_every_file_when_none_is_usable) {
  const auto directory = fresh_directory();
  CheckpointStore store(directory, 2, 0);
  std::vector<std::string> warnings;
  EXPECT_TRUE(contains(message_when([&] { store.load_last(warnings); }), "there is no checkpoint"));
  flip_bit(store.save(SampleRun(1).snapshot).path, 100);
  fs::resize_file(store.save(SampleRun(2).snapshot).path, 77);
  try {
    CheckpointStore(directory, 2, 0).load_last(warnings);
    FAIL();
  } catch (const core::Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.fault(), core::Fault::checkpoint);
    EXPECT_TRUE(contains(text, "ckpt-00000001.h5 is damaged: its contents")) << text;
    EXPECT_TRUE(contains(text, "ckpt-00000002.h5 is damaged: the file is cut off")) << text;
  }
  EXPECT_FALSE(store.empty());
}

}  // namespace
}  // namespace weft::experiments::checkpoint_store_test
