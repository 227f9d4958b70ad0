#include "core/error.h"
#include "core/rng.h"
#include "experiments/checkpoint/list.h"

namespace weft::experiments::checkpoint_list_test {
namespace {

const std::vector<CheckpointEntry> two{
    {"ckpt-00000100.h5", 100, 5000, "00112233445566778899aabbccddeeff", 1.0 / 3},
    {"ckpt-00000050.h5", 50, 5001, "ffeeddccbbaa99887766554433221100", {}}};

TEST(CheckpointList, reads_what_it_prints) {
  EXPECT_EQ(parse_checkpoint_list(print_checkpoint_list(two)), two);
  EXPECT_TRUE(parse_checkpoint_list(print_checkpoint_list({})).empty());
}

TEST(CheckpointList, never_reads_other_entries_from_a_damaged_text) {
  const std::string good = print_checkpoint_list(two);
  for (std::uint64_t i = 0; i < 500; ++i) {
    std::string bad = good;
    const core::Index bit = core::Rng(5).below(i, core::Index(good.size()) * 8);
    bad[std::size_t(bit / 8)] = char(bad[std::size_t(bit / 8)] ^ (1 << (bit % 8)));
    try {
      EXPECT_EQ(parse_checkpoint_list(bad), two);  // white space may change without harm
    } catch (const core::Error& error) {
      EXPECT_EQ(error.fault(), core::Fault::checkpoint);
    }
  }
  for (std::size_t length = 0; length + 1 < good.size(); ++length)
    EXPECT_THROW(parse_checkpoint_list(good.substr(0, length)), core::Error) << length;
}

TEST(CheckpointList, knows_checkpoint_names) {
  EXPECT_EQ(checkpoint_file_name(1841), "ckpt-00001841.h5");
  EXPECT_EQ(checkpoint_file_name(1234567890), "ckpt-1234567890.h5");
  EXPECT_EQ(step_in_name("ckpt-00001841.h5"), 1841);
  EXPECT_EQ(step_in_name("ckpt-1234567890.h5"), 1234567890);
  for (const char* other : {"ckpt-1.h5", "ckpt-.h5", "ckpt-0000000x.h5", "ckpt-00000001.h5.tmp",
                            "../ckpt-00000001.h5", "last.json", ""})
    EXPECT_FALSE(step_in_name(other)) << other;
}

}  // namespace
}  // namespace weft::experiments::checkpoint_list_test
