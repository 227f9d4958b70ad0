#include "core/files/hdf5_file.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <thread>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "tests/fresh_directory.h"

namespace weft::core::hdf5_file_test {
namespace {

/// A file on disk with the same contents, open for reading.
Hdf5File reopened(const Hdf5File& file) {
  const auto path = fresh_directory() / "file.h5";
  write_durably(path, {file.image()});
  return Hdf5File::open(path);
}

std::string message_when(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Hdf5File, keeps_every_element_type_and_shape_bit_for_bit) {
  Hdf5File file = Hdf5File::in_memory("types");
  const float odd = std::bit_cast<float>(0x7fc12345u);
  const std::vector<float> floats{1.5f, -0.0f, odd, std::numeric_limits<float>::denorm_min(), 3, 4};
  file.write<float>("a/floats", {2, 3}, floats);
  file.write<double>("doubles", {2}, std::vector<double>{0.1, 1e300});
  file.write<std::int32_t>("int32", {1, 2}, std::vector<std::int32_t>{-7, 1 << 30});
  file.write<std::int64_t>("int64", {2}, std::vector<std::int64_t>{-7, std::int64_t(1) << 60});
  file.write<std::uint8_t>("bytes", {3}, std::vector<std::uint8_t>{0, 127, 255});
  file.write<float>("scalar", {}, std::vector<float>{9});
  file.write<float>("empty", {0, 4}, std::vector<float>{});
  const Hdf5File read = reopened(file);
  EXPECT_EQ(read.shape("a/floats"), (Shape{2, 3}));
  EXPECT_EQ(read.shape("scalar"), Shape{});
  EXPECT_EQ(read.shape("empty"), (Shape{0, 4}));
  const auto back = read.read<float>("a/floats");
  EXPECT_EQ(std::memcmp(back.data(), floats.data(), sizeof(float) * floats.size()), 0);
  EXPECT_EQ(read.read<double>("doubles"), (std::vector<double>{0.1, 1e300}));
  EXPECT_EQ(read.read<std::int32_t>("int32"), (std::vector<std::int32_t>{-7, 1 << 30}));
  EXPECT_EQ(read.read<std::int64_t>("int64").back(), std::int64_t(1) << 60);
  EXPECT_EQ(read.read<std::uint8_t>("bytes"), (std::vector<std::uint8_t>{0, 127, 255}));
  EXPECT_EQ(read.read<float>("scalar"), std::vector<float>{9});
  EXPECT_TRUE(read.read<float>("empty").empty());
}

TEST(Hdf5File, tells_where_elements_lie_in_the_file) {
  const auto path = fresh_directory() / "places.h5";
  Hdf5File file = Hdf5File::in_memory("places");
  const std::vector<std::uint16_t> values = {7, 500, 65535};
  file.write<std::uint16_t>("a/middle", {3}, values);
  file.write<std::uint8_t>("none", {0}, {});
  write_durably(path, {file.image()});
  const Hdf5File read = Hdf5File::open(path);
  EXPECT_EQ(read.read<std::uint16_t>("a/middle"), values);
  const auto place = read.place<std::uint16_t>("a/middle");
  ASSERT_TRUE(place.has_value());
  std::vector<std::uint16_t> found(3);
  std::memcpy(found.data(), read_text_file(path).data() + *place, 6);
  EXPECT_EQ(found, values);
  EXPECT_FALSE(read.place<std::uint8_t>("a/middle").has_value());
  EXPECT_FALSE(read.place<std::int32_t>("a/middle").has_value());
  EXPECT_FALSE(read.place<std::uint8_t>("none").has_value());
  EXPECT_THROW(read.place<std::uint8_t>("absent"), Error);
}

TEST(Hdf5File, converts_numbers_when_reading_but_never_fractions_to_integers) {
  Hdf5File file = Hdf5File::in_memory("conversions");
  file.write<double>("doubles", {2}, std::vector<double>{0.1, 3});
  file.write<std::int64_t>("integers", {2}, std::vector<std::int64_t>{-7, 9});
  EXPECT_EQ(file.read<float>("doubles"), (std::vector<float>{0.1f, 3}));
  EXPECT_EQ(file.read<double>("integers"), (std::vector<double>{-7, 9}));
  EXPECT_EQ(file.read<std::int32_t>("integers"), (std::vector<std::int32_t>{-7, 9}));
  EXPECT_THROW(file.read<std::int32_t>("doubles"), Error);
}

TEST(Hdf5File, keeps_text_and_number_attributes_of_groups_and_datasets) {
  const std::string text(200000, 'x');
  Hdf5File file = Hdf5File::in_memory("attributes");
  file.write<float>("params/w", {1}, std::vector<float>{1});
  file.set_attribute("/", "op", std::string("größe"));
  file.set_attribute("meta", "config", text);
  file.set_attribute("meta", "empty", std::string());
  file.set_attribute("meta", "step", std::int64_t(-5));
  file.set_attribute("params/w", "scale", 0.1);
  const Hdf5File read = reopened(file);
  EXPECT_EQ(std::get<std::string>(read.attribute("/", "op")), "größe");
  EXPECT_EQ(std::get<double>(read.attribute("params/w", "scale")), 0.1);
  const auto all = read.attributes("meta");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(std::get<std::string>(all.at("config")), text);
  EXPECT_EQ(std::get<std::string>(all.at("empty")), "");
  EXPECT_EQ(std::get<std::int64_t>(all.at("step")), -5);
  EXPECT_TRUE(read.has_attribute("meta", "step"));
  EXPECT_FALSE(read.has_attribute("meta", "stop"));
  EXPECT_FALSE(read.has_attribute("nowhere/at/all", "step"));
}

TEST(Hdf5File, lists_datasets_of_nested_groups_by_name) {
  Hdf5File file = Hdf5File::in_memory("listing");
  for (const char* name : {"optim/v/layers.10.w", "optim/m/b", "params/z", "params/a", "top"})
    file.write<float>(name, {1}, std::vector<float>{1});
  EXPECT_EQ(file.datasets(), (std::vector<std::string>{"optim/m/b", "optim/v/layers.10.w",
                                                       "params/a", "params/z", "top"}));
  EXPECT_EQ(file.datasets("optim"), (std::vector<std::string>{"m/b", "v/layers.10.w"}));
  EXPECT_EQ(file.groups(), (std::vector<std::string>{"optim", "params"}));
  EXPECT_TRUE(file.contains("optim/m"));
  EXPECT_TRUE(file.contains("/optim/m/b"));
  EXPECT_FALSE(file.contains("optim/q/b"));
}

TEST(Hdf5File, has_the_same_bytes_for_the_same_contents) {
  const auto build = [] {
    Hdf5File file = Hdf5File::in_memory("same");
    file.write<float>("a/b", {300000}, std::vector<float>(300000, 2));
    file.set_attribute("meta", "text", std::string("text"));
    const auto image = file.image();
    return std::vector<std::byte>(image.begin(), image.end());
  };
  EXPECT_EQ(build(), build());
}

TEST(Hdf5File, names_file_and_object_in_every_error) {
  Hdf5File file = Hdf5File::in_memory("some label");
  file.write<float>("params/w", {2, 2}, std::vector<float>(4));
  std::vector<float> three(3);
  for (const auto& action : std::vector<std::function<void()>>{
           [&] { file.read<float>("params/w.bias"); },
           [&] { file.shape("params/w.bias"); },
           [&] { file.datasets("params/w.bias"); },
           [&] { file.attribute("params/w", "w.bias"); },
           [&] { file.attributes("params/w.bias"); },
       }) {
    const std::string message = message_when(action);
    EXPECT_NE(message.find("some label"), std::string::npos) << message;
    EXPECT_NE(message.find("w.bias"), std::string::npos) << message;
  }
  EXPECT_NE(message_when([&] { file.read_into<float>("params/w", three); }).find("[2, 2]"),
            std::string::npos);
  EXPECT_THROW(file.write<float>("params/w", {1}, std::vector<float>(1)), Error);
}

TEST(Hdf5File, reports_missing_and_foreign_files_without_printing) {
  testing::internal::CaptureStderr();
  EXPECT_NE(message_when([] { Hdf5File::open("/nowhere/x.h5"); }).find("no such file"),
            std::string::npos);
  const auto foreign = fresh_directory() / "foreign.h5";
  write_durably(foreign, "this is no HDF5 file");
  std::thread([&] {
    EXPECT_NE(message_when([&] { Hdf5File::open(foreign); }).find("foreign.h5"), std::string::npos);
  }).join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace weft::core::hdf5_file_test
