#include "core/files/hdf5_structure.h"

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/hdf5_file.h"
#include "core/rng.h"
#include "tests/fresh_directory.h"
#include "tests/places.h"

namespace weft::core::hdf5_structure_test {
namespace {

/// A file with all that weft writes: groups in groups, arrays, numbers and texts.
std::string image() {
  Hdf5File file = Hdf5File::in_memory("image");
  const std::vector<float> values(6, 1.5f);
  for (int i = 0; i < 20; ++i)
    file.write<float>("params/layers." + std::to_string(i) + ".weight", {2, 3}, values);
  file.write<double>("optim/m/head", {6}, std::vector<double>(6, 0.5));
  file.write<std::int64_t>("splits", {3, 2}, std::vector<std::int64_t>(6, 2));
  file.write<std::uint16_t>("tokens", {3}, std::vector<std::uint16_t>(3, 2));
  file.write<float>("empty", {0, 4}, std::vector<float>{});
  file.write<float>("scalar", {}, std::vector<float>{9});
  for (int i = 0; i < 12; ++i) file.set_attribute("meta", "n" + std::to_string(i), std::int64_t(i));
  file.set_attribute("meta", "config", std::string(9000, 'x'));
  file.set_attribute("meta", "nothing", std::string());
  file.set_attribute("rng", "share", 0.25);
  const auto bytes = file.image();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads everything that a file holds, as a checkpoint is read.
void read_all(const std::filesystem::path& path) {
  check_hdf5_structure(path);
  const Hdf5File file = Hdf5File::open(path);
  for (const std::string& group : file.groups()) file.attributes(group);
  for (const std::string& name : file.datasets()) file.read<float>(name);
}

TEST(Hdf5Structure, is_that_of_every_file_that_weft_writes) {
  const auto path = fresh_directory() / "own.h5";
  write_durably(path, image());
  EXPECT_NO_THROW(read_all(path));
  write_durably(path, image() + "weft-seal");
  EXPECT_NO_THROW(read_all(path));
}

TEST(Hdf5Structure, refuses_cycles_links_claims_of_size_and_what_makes_HDF5_crash_or_hang) {
  const std::filesystem::path folder = source_dir() + "/tests/core/files/hostile";
  int files = 0;
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    EXPECT_THROW(check_hdf5_structure(item.path()), Error) << item.path();
    ++files;
  }
  EXPECT_EQ(files, 7);
}

TEST(Hdf5Structure, refuses_a_file_that_is_cut_off_at_any_place) {
  const auto path = fresh_directory() / "cut.h5";
  const std::string whole = image();
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    write_durably(path, whole.substr(0, size));
    EXPECT_THROW(check_hdf5_structure(path), Error) << size;
  }
}

TEST(Hdf5Structure, is_checked_before_a_changed_file_can_crash_HDF5) {
  const auto path = fresh_directory() / "changed.h5";
  const std::string whole = image();
  const Rng rng(3);
  int refused = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    std::string bytes = whole;
    const auto at = std::size_t(rng.uniform(3 * i) * double(bytes.size()));
    const double kind = rng.uniform(3 * i + 1);
    bytes[at] = kind < 0.3   ? char(bytes[at] ^ (1 << int(rng.uniform(3 * i + 2) * 8)))
                : kind < 0.6 ? char(0xff)
                             : char(rng.uniform(3 * i + 2) * 256);
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      read_all(path);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace weft::core::hdf5_structure_test
