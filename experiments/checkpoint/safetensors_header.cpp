#include "experiments/checkpoint/safetensors_header.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"

namespace weft::experiments {
namespace {

using core::Index;

constexpr std::size_t most_entries = 100'000;  // arrays, and texts
constexpr std::size_t longest_list = 8;        // more than any shape has extents
constexpr std::string_view texts_name = "__metadata__";

/// The array that an entry of the header describes, believed only as far as it is consistent.
SafetensorsArray array_of(const std::filesystem::path& path, const std::string& name,
                          const nlohmann::json& json) {
  const auto wrong = [&](const std::string& what) { refuse_safetensors(path, name + ": " + what); };
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    wrong("needs dtype, shape and data_offsets");
  const nlohmann::json &type = json["dtype"], &shape = json["shape"],
                       &places = json["data_offsets"];
  const auto size = type.is_string() ? bytes_of_type(type.get<std::string>()) : std::nullopt;
  if (!size) wrong("has type " + type.dump() + ", of which weft reads F64, F32, F16 and BF16");
  if (!shape.is_array() || shape.size() > std::size_t(core::Shape::most_axes))
    wrong("its shape is no list of at most 6 numbers");
  std::uint64_t bytes = *size;
  std::vector<Index> extents;
  for (const nlohmann::json& extent : shape) {
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

/// Follows the parser: the entries of the header are at depth 1, what they hold at depth 2, the
/// numbers of shapes and places at depth 3. Anything else is skipped or refused where it begins.
class HeaderReading final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReading(const std::filesystem::path& path) : path_(path) {}

  SafetensorsHeader header;

  bool null() override { return take(nullptr); }
  bool boolean(bool value) override { return take(value); }
  bool number_integer(std::int64_t value) override { return take(value); }
  bool number_unsigned(std::uint64_t value) override { return take(value); }
  bool number_float(double value, const std::string&) override { return take(value); }
  bool string(std::string& value) override { return take(value); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(nlohmann::json::object()); }
  bool start_array(std::size_t) override { return begin(nlohmann::json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  bool key(std::string& key) override {
    if (depth_ == 1) name_ = key, entry_ = nlohmann::json::object();
    if (depth_ == 2) key_ = key;
    return true;
  }

 private:
  bool in_texts() const { return name_ == texts_name; }
  bool is_known() const { return key_ == "dtype" || key_ == "shape" || key_ == "data_offsets"; }

  /// Takes a value, or the beginning of one; false where the header is no object.
  bool take(nlohmann::json value) {
    if (depth_ == 0) return value.is_object();
    if (depth_ == 1 && !value.is_object()) finish(value);
    if (depth_ == 2 && in_texts()) take_text(value);
    if (depth_ == 2 && !in_texts() && is_known())
      entry_[key_] = std::move(value);
    else if (depth_ == 3 && !in_texts() && is_known() && entry_[key_].is_array() &&
             entry_[key_].size() < longest_list)
      entry_[key_].push_back(std::move(value));
    return true;
  }
  bool begin(nlohmann::json empty) {
    const bool goes_on = take(std::move(empty));
    ++depth_;
    return goes_on;
  }
  bool end() {
    if (--depth_ == 1 && !in_texts()) finish(entry_);
    return true;
  }

  void take_text(const nlohmann::json& value) {
    if (!value.is_string()) refuse_safetensors(path_, "__metadata__." + key_ + " is no text");
    header.texts[key_] = value.get<std::string>();
    check_number(header.texts.size(), "texts");
  }

  void finish(const nlohmann::json& entry) {
    if (in_texts()) refuse_safetensors(path_, "__metadata__ is no table of texts");
    if (!header.arrays.emplace(name_, array_of(path_, name_, entry)).second)
      refuse_safetensors(path_, "the name " + name_ + " occurs twice");
    check_number(header.arrays.size(), "arrays");
  }

  void check_number(std::size_t number, const std::string& of_what) const {
    if (number > most_entries)
      refuse_safetensors(path_, "it has more than " + std::to_string(most_entries) + " " + of_what);
  }

  const std::filesystem::path& path_;
  Index depth_ = 0;
  std::string name_, key_;  // of the entry, and of what is read in it
  nlohmann::json entry_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& json,
                                           const std::filesystem::path& path) {
  HeaderReading reading(path);
  if (!nlohmann::json::sax_parse(json, &reading))
    refuse_safetensors(path, "its header is no JSON object");
  return std::move(reading.header);
}

std::optional<std::uint64_t> bytes_of_type(const std::string& type) {
  if (type == "F64") return 8;
  if (type == "F32") return 4;
  if (type == "F16" || type == "BF16") return 2;
  return std::nullopt;
}

void refuse_safetensors(const std::filesystem::path& path, const std::string& why) {
  throw core::Error(core::Fault::checkpoint,
                    path.string() + ": is not a complete safetensors file: " + why);
}

}  // namespace weft::experiments
