#include "experiments/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {
namespace {

using OrderedJson = nlohmann::ordered_json;
using core::Index;
using core::Real;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr std::uint64_t largest_header = 100'000'000;
constexpr const char* own_type = sizeof(Real) == 4 ? "F32" : "F64";

/// Half precision: sign, 5 bits of exponent, 10 of fraction.
float from_half(std::uint16_t bits) {
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? std::numeric_limits<float>::quiet_NaN() : sign / 0.0f;
  if (exponent == 0) return sign * std::ldexp(float(fraction), -24);
  return sign * std::ldexp(float(fraction + 1024), exponent - 25);
}

Real number_at(const std::string& type, const char* bytes) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  if (type == "F64") return Real(as(double{}));
  if (type == "F32") return Real(as(float{}));
  const std::uint16_t half = as(std::uint16_t{});
  return Real(type == "F16" ? from_half(half) : std::bit_cast<float>(std::uint32_t(half) << 16));
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const ConstNamedArray> arrays,
                       const std::map<std::string, std::string>& texts) {
  OrderedJson header = OrderedJson::object();
  if (!texts.empty()) header["__metadata__"] = texts;
  std::uint64_t at = 0;
  std::string data;
  for (const ConstNamedArray& array : arrays) {
    OrderedJson shape = OrderedJson::array();
    for (Index axis = 0; axis < array.shape.rank(); ++axis) shape.push_back(array.shape[axis]);
    const std::uint64_t end = at + array.values.size_bytes();
    header[array.name] = {{"dtype", own_type}, {"shape", shape}, {"data_offsets", {at, end}}};
    at = end;
    data.append(reinterpret_cast<const char*>(array.values.data()), array.values.size_bytes());
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const OrderedJson::exception&) {
    throw core::Error(core::Fault::checkpoint,
                      path.string() + ": a name or text is not UTF-8 and cannot be exported");
  }
  text.append((8 - text.size() % 8) % 8, ' ');  // the arrays begin at a multiple of 8
  const std::uint64_t size = text.size();
  core::write_durably(path, {std::as_bytes(std::span(&size, 1)), std::as_bytes(std::span(text)),
                             std::as_bytes(std::span(data))});
}

SafetensorsFile::SafetensorsFile(std::filesystem::path path) : path_(std::move(path)) {
  std::ifstream file(path_, std::ios::binary | std::ios::ate);
  if (!file || !std::filesystem::is_regular_file(path_))
    refuse_safetensors(path_, "it cannot be opened");
  const std::uint64_t bytes = std::uint64_t(file.tellg());
  std::uint64_t header = 0;
  file.seekg(0);
  if (bytes < 8 || !file.read(reinterpret_cast<char*>(&header), 8))
    refuse_safetensors(path_, "it has only " + std::to_string(bytes) + " bytes");
  if (header > bytes - 8 || header > largest_header)
    refuse_safetensors(path_, "its header claims " + std::to_string(header) +
                                  " bytes of a file of " + std::to_string(bytes));
  std::string json(header, '\0');
  if (!file.read(json.data(), std::streamsize(header)))
    refuse_safetensors(path_, "its header is cut off");
  data_ = 8 + header;
  header_ = parse_safetensors_header(json, path_);
  check_layout(bytes - data_);
}

void SafetensorsFile::check_layout(std::uint64_t bytes) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const auto& [name, array] : arrays()) places.emplace_back(array.begin, array.end);
  std::ranges::sort(places);
  std::uint64_t at = 0;
  for (const auto& [begin, end] : places) {
    if (begin != at)
      refuse_safetensors(path_, begin < at ? "arrays overlap at byte " + std::to_string(begin)
                                           : "bytes " + std::to_string(at) + " to " +
                                                 std::to_string(begin) + " belong to no array");
    at = end;
  }
  if (at != bytes)
    refuse_safetensors(path_, "its arrays take " + std::to_string(at) + " bytes, the file has " +
                                  std::to_string(bytes));
}

void SafetensorsFile::read(const std::string& name, std::span<Real> values) const {
  const Array& array = arrays().at(name);
  core::require(Index(values.size()) == array.shape.size(), name, ": ", values.size(),
                " numbers asked for, the file has shape ", array.shape);
  std::ifstream file(path_, std::ios::binary);
  std::string bytes(array.end - array.begin, '\0');
  file.seekg(std::streamoff(data_ + array.begin));
  if (!file.read(bytes.data(), std::streamsize(bytes.size())))
    refuse_safetensors(path_, name + " cannot be read to its end");
  const std::size_t size = std::size_t(*bytes_of_type(array.type));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = number_at(array.type, bytes.data() + i * size);
}

}  // namespace weft::experiments
