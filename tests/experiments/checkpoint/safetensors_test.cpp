#include "experiments/checkpoint/safetensors.h"

#include <cmath>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "tests/fresh_directory.h"

namespace weft::experiments::safetensors_test {
namespace {

using core::Real;

std::string with_header(std::string header, const std::string& data) {
  std::uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

/// What opening a file with these bytes says.
std::string complaint(const std::string& bytes) {
  const auto path = fresh_directory() / "f.safetensors";
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    const SafetensorsFile file(path);
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::checkpoint);
    return error.what();
  }
  return "";
}

std::string entry(const std::string& shape, const std::string& places,
                  const std::string& type = "F32") {
  return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + places + "}";
}

TEST(Safetensors, what_is_written_is_read_back_and_a_plain_reader_finds_it) {
  const std::vector<Real> a = {1, Real(-2.5), 3, 4, 5, 6}, b = {Real(0.1)};
  const auto path = fresh_directory() / "f.safetensors";
  const std::vector<ConstNamedArray> arrays = {{"z.weight", {2, 3}, a}, {"a", {}, b}};
  write_safetensors(path, arrays, {{"config", "x = 1\n"}});

  const SafetensorsFile file(path);
  EXPECT_EQ(file.texts().at("config"), "x = 1\n");
  ASSERT_EQ(file.arrays().size(), 2u);
  EXPECT_EQ(file.arrays().at("z.weight").shape, (core::Shape{2, 3}));
  std::vector<Real> read(6);
  file.read("z.weight", read);
  EXPECT_EQ(read, a);

  // As the format says, without any of the code above: size, header, numbers.
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), 8);
  EXPECT_EQ(size % 8, 0u);
  const std::string header = bytes.substr(8, size);
  EXPECT_NE(header.find(R"("z.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})"),
            std::string::npos)
      << header;
  float second = 0;
  std::memcpy(&second, bytes.data() + 8 + size + 4, 4);
  EXPECT_EQ(second, -2.5f);
}

TEST(Safetensors, other_precisions_are_converted) {
  const auto path = fresh_directory() / "f.safetensors";
  const std::string data(
      "\x00\x3c\x00\xc1\x01\x00"  // F16: 1, -2.5, the smallest
      "\x80\x3f",                 // BF16: 1
      8);
  std::ofstream(path, std::ios::binary) << with_header(
      "{\"h\":" + entry("[3]", "[0,6]", "F16") + ",\"b\":" + entry("[1]", "[6,8]", "BF16") + "}",
      data);
  const SafetensorsFile file(path);
  std::vector<Real> halves(3), brain(1);
  file.read("h", halves);
  file.read("b", brain);
  EXPECT_EQ(halves, (std::vector<Real>{1, Real(-2.5), Real(std::ldexp(1.0, -24))}));
  EXPECT_EQ(brain[0], 1);
}

TEST(Safetensors, hostile_and_broken_headers_are_refused_without_large_allocations) {
  const std::string data(8, '\0');
  const auto refused = [&](const std::string& header, const std::string& why) {
    const std::string said = complaint(with_header(header, data));
    EXPECT_NE(said.find(why), std::string::npos) << header << "\n" << said;
  };
  EXPECT_NE(complaint("short").find("only 5 bytes"), std::string::npos);
  EXPECT_NE(complaint(std::string(7, '\xff') + "\x7f{}").find("its header claims"),
            std::string::npos);
  refused("[1]", "no JSON object");
  refused("{", "no JSON object");
  refused("{\"a\":1}", "needs dtype");
  refused("{\"a\":" + entry("[2]", "[0,8]", "I64") + "}", "has type \"I64\"");
  refused("{\"a\":" + entry("[-2]", "[0,8]") + "}", "is not between 0 and 2^40");
  refused("{\"a\":" + entry("[2.5]", "[0,8]") + "}", "is not between 0 and 2^40");
  refused("{\"a\":" + entry("[1,1,1,1,1,1,2]", "[0,8]") + "}", "at most 6 numbers");
  refused("{\"a\":" + entry("[1099511627776,1099511627776,1099511627776]", "[0,8]") + "}",
          "more elements than can be counted");
  refused("{\"a\":" + entry("[1099511627776]", "[0,4398046511104]") + "}", "the file has 8");
  refused("{\"a\":" + entry("[2]", "[8,0]") + "}", "another number");
  refused("{\"a\":" + entry("[2]", "[0]") + "}", "two numbers");
  refused("{\"a\":" + entry("[2]", "[0,8]") + ",\"b\":" + entry("[1]", "[4,8]") + "}", "overlap");
  refused("{\"a\":" + entry("[1]", "[4,8]") + "}", "belong to no array");
  refused("{\"a\":" + entry("[1]", "[0,4]") + "}", "the file has 8");
  refused("{\"a\":" + entry("[1]", "[0,4]") + ",\"a\":" + entry("[2]", "[0,8]") + "}", "twice");
  refused("{\"__metadata__\":{\"x\":1},\"a\":" + entry("[2]", "[0,8]") + "}", "is no text");
  refused(std::string(100'000, '['), "no JSON object");
  refused("{\"__metadata__\":3,\"a\":" + entry("[2]", "[0,8]") + "}", "is no table of texts");
}

TEST(Safetensors, headers_with_more_than_any_model_has_are_refused_as_they_are_read) {
  std::string arrays = "{", texts = "{\"__metadata__\":{", shape = "[1";
  for (int i = 0; i <= 100'000; ++i) {
    const std::string name = '"' + std::to_string(i) + '"', comma = i ? "," : "";
    arrays += comma + name + ":" + entry("[0]", "[0,0]");
    texts += comma + name + ":\"\"";
    shape += ",1";
  }
  EXPECT_NE(complaint(with_header(arrays + "}", "")).find("more than 100000 arrays"),
            std::string::npos);
  EXPECT_NE(complaint(with_header(texts + "}}", "")).find("more than 100000 texts"),
            std::string::npos);
  EXPECT_NE(complaint(with_header("{\"a\":" + entry(shape + "]", "[0,4]") + "}", "1234"))
                .find("at most 6 numbers"),
            std::string::npos);
}

TEST(Safetensors, what_an_entry_holds_besides_its_fields_is_passed_over) {
  const auto path = fresh_directory() / "more.safetensors";
  std::ofstream(path, std::ios::binary) << with_header(
      R"({"a":{"note":{"shape":[9],"x":[[1]]},"dtype":"F32","shape":[1],"more":[1,[2]],"data_offsets":[0,4]}})",
      std::string(4, '\0'));
  const SafetensorsFile file(path);
  EXPECT_EQ(file.arrays().at("a").shape, core::Shape({1}));
}

}  // namespace
}  // namespace weft::experiments::safetensors_test
