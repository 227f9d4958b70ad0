#include "core/files/hdf5_outline.h"

#include <cstring>

#include "core/error.h"

namespace weft::core::hdf5_outline_test {
namespace {

template <class T>
std::vector<T> elements(Index count) {
  std::vector<T> values;
  for (Index i = 0; i < count; ++i) values.push_back(T(i * 7919 + 3));
  return values;
}

/// What stands before, among and after the long dataset of a file.
template <class Write>
void write_contents(Hdf5File& file, const Write& write_long) {
  file.set_attribute("/", "format", std::int64_t(1));
  file.set_attribute("/", "units", std::string("bytes"));
  write_long();
  file.write<std::int32_t>("alphabet", {3}, std::vector<std::int32_t>{65, 66, 67});
  for (int i = 0; i < 20; ++i)
    file.set_attribute("sources/" + std::to_string(i), "name", "a file " + std::to_string(i));
}

template <class T>
std::vector<std::byte> in_memory(Index count) {
  Hdf5File file = Hdf5File::in_memory("whole");
  write_contents(file, [&] { file.write<T>("long", {count}, elements<T>(count)); });
  const auto image = file.image();
  return {image.begin(), image.end()};
}

template <class T>
std::vector<std::byte> around_its_elements(Index count) {
  Hdf5Outline outline("outline");
  write_contents(outline.file(), [&] { outline.leave_out<T>("long", count); });
  const Hdf5Outline::Bytes bytes = outline.finish();
  std::vector<std::byte> all = bytes.before;
  const std::vector<T> values = elements<T>(count);
  const auto among = std::as_bytes(std::span(values));
  all.insert(all.end(), among.begin(), among.end());
  all.insert(all.end(), bytes.after.begin(), bytes.after.end());
  return all;
}

TEST(Hdf5Outline, around_its_elements_is_the_file_that_hdf5_builds_in_memory) {
  for (const Index count : {0, 1, 100, 1023, 2047, 2048, 5000, 65535, 65536, 300000}) {
    EXPECT_EQ(around_its_elements<std::uint8_t>(count), in_memory<std::uint8_t>(count)) << count;
    EXPECT_EQ(around_its_elements<std::uint16_t>(count), in_memory<std::uint16_t>(count)) << count;
    EXPECT_EQ(around_its_elements<std::int32_t>(count), in_memory<std::int32_t>(count)) << count;
  }
}

TEST(Hdf5Outline, of_more_elements_than_any_memory_holds_takes_kilobytes) {
  Hdf5Outline outline("huge");
  outline.leave_out<std::uint16_t>("long", Index(1) << 44);
  const Hdf5Outline::Bytes bytes = outline.finish();
  EXPECT_LT(bytes.before.size() + bytes.after.size(), 100000u);
  EXPECT_GT(bytes.before.size(), 0u);
}

TEST(Hdf5Outline, leaves_out_one_dataset) {
  Hdf5Outline outline("two");
  outline.leave_out<std::uint8_t>("one", 10);
  EXPECT_THROW(outline.leave_out<std::uint8_t>("other", 10), Error);
}

}  // namespace
}  // namespace weft::core::hdf5_outline_test
