#include "experiments/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using core::Index;
using core::Real;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr std::uint64_t largest_header = 100'000'000;
constexpr const char* own_type = sizeof(Real) == 4 ? "F32" : "F64";

std::optional<std::uint64_t> bytes_of(const std::string& type) {
  if (type == "F64") return 8;
  if (type == "F32") return 4;
  if (type == "F16" || type == "BF16") return 2;
  return std::nullopt;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw core::Error(core::Fault::checkpoint,
                    path.string() + ": is no whole safetensors file: " + why);
}

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

/// Parses the header; a name that comes twice, which JSON allows, is refused.
Json parse_header(const std::filesystem::path& path, const std::string& text) {
  std::set<std::string> names;
  std::string twice;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return depth < 8;
  };
  const Json json = Json::parse(text, watch, false);
  if (!json.is_object()) refuse(path, "its header is no JSON object");
  if (!twice.empty()) refuse(path, "the name " + twice + " occurs twice");
  return json;
}

/// The array that an entry of the header describes, believed only as far as it is consistent.
SafetensorsFile::Array array_of(const std::filesystem::path& path, const std::string& name,
                                const Json& json) {
  const auto wrong = [&](const std::string& what) { refuse(path, name + ": " + what); };
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    wrong("needs dtype, shape and data_offsets");
  const Json &type = json["dtype"], &shape = json["shape"], &places = json["data_offsets"];
  const auto size = type.is_string() ? bytes_of(type.get<std::string>()) : std::nullopt;
  if (!size) wrong("has type " + type.dump() + ", of which weft reads F64, F32, F16 and BF16");
  if (!shape.is_array() || shape.size() > std::size_t(core::Shape::most_axes))
    wrong("its shape is no list of at most 6 numbers");
  std::uint64_t bytes = *size;
  std::vector<Index> extents;
  for (const Json& extent : shape) {
    if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() > (std::uint64_t(1) << 40))
      wrong("the extent " + extent.dump() + " is not between 0 and 2^40");
    extents.push_back(extent.get<Index>());
    if (__builtin_mul_overflow(bytes, extent.get<std::uint64_t>(), &bytes))
      wrong("its shape has more elements than can be counted");
  }
  const bool placed = places.is_array() && places.size() == 2 && places[0].is_number_unsigned() &&
                      places[1].is_number_unsigned();
  if (!placed) wrong("data_offsets must be two numbers");
  const std::uint64_t begin = places[0], end = places[1];
  if (begin > end || end - begin != bytes)
    wrong("its shape takes " + std::to_string(bytes) + " bytes, its place " + places.dump() +
          " another number");
  return {type.get<std::string>(), core::Shape(extents), begin, end};
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const ArraySource> arrays,
                       const std::map<std::string, std::string>& texts) {
  OrderedJson header = OrderedJson::object();
  if (!texts.empty()) header["__metadata__"] = texts;
  std::uint64_t at = 0;
  std::string data;
  for (const ArraySource& array : arrays) {
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
  if (!file || !std::filesystem::is_regular_file(path_)) refuse(path_, "it cannot be opened");
  const std::uint64_t bytes = std::uint64_t(file.tellg());
  std::uint64_t header = 0;
  file.seekg(0);
  if (bytes < 8 || !file.read(reinterpret_cast<char*>(&header), 8))
    refuse(path_, "it has only " + std::to_string(bytes) + " bytes");
  if (header > bytes - 8 || header > largest_header)
    refuse(path_, "its header claims " + std::to_string(header) + " bytes of a file of " +
                      std::to_string(bytes));
  std::string json(header, '\0');
  if (!file.read(json.data(), std::streamsize(header))) refuse(path_, "its header is cut off");
  data_ = 8 + header;
  read_header(json);
  check_layout(bytes - data_);
}

void SafetensorsFile::read_header(const std::string& text) {
  const Json json = parse_header(path_, text);
  for (const auto& [name, entry] : json.items()) {
    if (name != "__metadata__") {
      arrays_[name] = array_of(path_, name, entry);
      continue;
    }
    if (!entry.is_object()) refuse(path_, "__metadata__ is no table of texts");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) refuse(path_, "__metadata__." + key + " is no text");
      texts_[key] = value.get<std::string>();
    }
  }
}

void SafetensorsFile::check_layout(std::uint64_t bytes) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const auto& [name, array] : arrays_) places.emplace_back(array.begin, array.end);
  std::ranges::sort(places);
  std::uint64_t at = 0;
  for (const auto& [begin, end] : places) {
    if (begin != at)
      refuse(path_, begin < at ? "arrays overlap at byte " + std::to_string(begin)
                               : "bytes " + std::to_string(at) + " to " + std::to_string(begin) +
                                     " belong to no array");
    at = end;
  }
  if (at != bytes)
    refuse(path_, "its arrays take " + std::to_string(at) + " bytes, the file has " +
                      std::to_string(bytes));
}

void SafetensorsFile::read(const std::string& name, std::span<Real> values) const {
  const Array& array = arrays_.at(name);
  core::require(Index(values.size()) == array.shape.size(), name, ": ", values.size(),
                " numbers asked for, the file has shape ", array.shape);
  std::ifstream file(path_, std::ios::binary);
  std::string bytes(array.end - array.begin, '\0');
  file.seekg(std::streamoff(data_ + array.begin));
  if (!file.read(bytes.data(), std::streamsize(bytes.size())))
    refuse(path_, name + " cannot be read to its end");
  const std::size_t size = std::size_t(*bytes_of(array.type));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = number_at(array.type, bytes.data() + i * size);
}

}  // namespace weft::experiments
