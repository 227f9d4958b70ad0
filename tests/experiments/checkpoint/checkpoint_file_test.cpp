#include <bit>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/files/file_seal.h"
#include "core/files/hdf5_file.h"
#include "experiments/checkpoint/file.h"
#include "tests/experiments/checkpoint/checkpoint_sample.h"

namespace weft::experiments::checkpoint_file_test {
namespace {

TEST(CheckpointFile, comes_back_bit_for_bit) {
  const auto path = fresh_directory() / "a.h5";
  const float payload = std::bit_cast<float>(0x7fc12345u);
  const std::vector<core::Real> odd{core::Real(-0.0), core::Real(payload),
                                    std::numeric_limits<core::Real>::infinity(),
                                    std::numeric_limits<core::Real>::denorm_min()};
  SampleRun run(12);
  run.snapshot.arrays.push_back({"states/odd", {2, 2}, odd});
  run.snapshot.arrays.push_back({"states/scalar", {}, std::span(odd).first(1)});
  run.snapshot.arrays.push_back({"states/none", {0}, {}});
  write_checkpoint(path, run.snapshot, 1.25);
  const Checkpoint back = load_checkpoint(path);
  EXPECT_TRUE(run.equals(back));
  EXPECT_EQ(back.validation, 1.25);
  EXPECT_EQ(back.arrays.size(), 5u);
  EXPECT_EQ(
      std::memcmp(back.array("states/odd", {2, 2}).data(), odd.data(), sizeof(core::Real) * 4), 0);
}

TEST(CheckpointFile, is_laid_out_for_any_reader_of_hdf5) {
  const auto path = fresh_directory() / "a.h5";
  write_checkpoint(path, SampleRun(12).snapshot);
  const core::Hdf5File file = core::Hdf5File::open(path);
  EXPECT_EQ(file.datasets(), (std::vector<std::string>{"optim/m/layers.0.attention.qkv.weight",
                                                       "params/layers.0.attention.qkv.weight"}));
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("meta", "step")), 12);
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("rng", "seed")), -3);
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("data", "position")), 1200);
}

TEST(CheckpointFile, has_the_same_bytes_for_the_same_run) {
  const auto directory = fresh_directory();
  const auto first = write_checkpoint(directory / "a.h5", SampleRun(12).snapshot);
  const auto second = write_checkpoint(directory / "b.h5", SampleRun(12).snapshot);
  EXPECT_EQ(first.xxh3_128, second.xxh3_128);
  EXPECT_EQ(first.xxh3_128, core::xxh3_128(core::read_text_file(directory / "a.h5")));
}

TEST(CheckpointFile, refuses_files_that_are_damaged_foreign_or_missing) {
  const auto directory = fresh_directory();
  write_checkpoint(directory / "a.h5", SampleRun(12).snapshot);
  flip_bit(directory / "a.h5", 12345);
  EXPECT_TRUE(contains(message_when([&] { load_checkpoint(directory / "a.h5"); }), "checksum"));
  core::write_durably(directory / "text.h5", std::string(1000, 'x'));
  EXPECT_TRUE(contains(message_when([&] { load_checkpoint(directory / "text.h5"); }), "seal"));
  core::write_durably(directory / "empty.h5", "");
  EXPECT_TRUE(contains(message_when([&] { load_checkpoint(directory / "empty.h5"); }), "cut off"));
  EXPECT_TRUE(contains(message_when([&] { load_checkpoint(directory / "no.h5"); }), "missing"));
  EXPECT_THROW(load_checkpoint(directory), core::Error);
}

TEST(CheckpointFile, refuses_a_sealed_hdf5_file_that_is_no_checkpoint) {
  const auto path = fresh_directory() / "a.h5";
  core::Hdf5File file = core::Hdf5File::in_memory("foreign");
  file.write<core::Real>("x", {1}, std::vector<core::Real>{1});
  const std::string seal = core::seal_of(file.image());
  core::write_durably(path, {file.image(), std::as_bytes(std::span(seal))});
  EXPECT_TRUE(contains(message_when([&] { load_checkpoint(path); }), "no weft checkpoint"));
}

}  // namespace
}  // namespace weft::experiments::checkpoint_file_test
