#include "experiments/exchange/npz_file.h"

#include <zlib.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {
namespace {

static_assert(std::endian::native == std::endian::little, "zip and npy are little-endian");

/// A zip archive of files that are stored as they are, without a date.
class Archive {
 public:
  void add(const std::string& name, const std::string& content) {
    const std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
    core::require(bytes_.size() + content.size() + name.size() + (1 << 16) < limit,
                  "an .npz file of 4 GiB or more is not written: export as .safetensors");
    const auto place = std::uint32_t(bytes_.size());
    const auto sum = std::uint32_t(
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), uInt(content.size())));
    const std::string entry = entry_of(name, std::uint32_t(content.size()), sum);
    bytes_ += word(0x04034b50) + entry + name + content;
    // Version made by, the entry, then comment, disk and attributes, none of them used.
    directory_ += word(0x02014b50) + half(version) + entry + half(0) + half(0) + half(0) + word(0) +
                  word(place) + name;
    ++files_;
  }

  std::string finish() {
    const auto place = std::uint32_t(bytes_.size());
    bytes_ += directory_ + word(0x06054b50) + half(0) + half(0) + half(files_) + half(files_) +
              word(std::uint32_t(directory_.size())) + word(place) + half(0);
    return std::move(bytes_);
  }

 private:
  static constexpr std::uint16_t version = 20, utf8_names = 0x800, first_day = 0x21;

  template <class Number>
  static std::string raw(Number value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static std::string half(std::uint16_t value) { return raw(value); }
  static std::string word(std::uint32_t value) { return raw(value); }

  /// What the entry of a file says in both places: how it is stored, its sum, sizes and name.
  static std::string entry_of(const std::string& name, std::uint32_t size, std::uint32_t sum) {
    return half(version) + half(utf8_names) + half(0) + half(0) + half(first_day) + word(sum) +
           word(size) + word(size) + half(std::uint16_t(name.size())) + half(0);
  }

  std::string bytes_, directory_;
  std::uint16_t files_ = 0;
};

/// Version 1.0 of numpy's format; the head ends at a multiple of 64 bytes.
std::string npy_of(const ConstNamedArray& array) {
  std::string shape;
  for (core::Index axis = 0; axis < array.shape.rank(); ++axis)
    shape += std::to_string(array.shape[axis]) + ", ";
  std::string head = std::string("{'descr': '") + (sizeof(core::Real) == 4 ? "<f4" : "<f8") +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t before = 10;
  head += std::string(63 - (before + head.size()) % 64, ' ') + '\n';
  const auto size = std::uint16_t(head.size());
  return std::string("\x93NUMPY\x01\x00", 8) + char(size & 255) + char(size >> 8) + head +
         std::string(reinterpret_cast<const char*>(array.values.data()), array.values.size_bytes());
}

}  // namespace

void write_npz(const std::filesystem::path& path, std::span<const ConstNamedArray> arrays,
               const std::map<std::string, std::string>& texts) {
  Archive archive;
  for (const ConstNamedArray& array : arrays) archive.add(array.name + ".npy", npy_of(array));
  archive.add(
      "weft.json",
      nlohmann::json(texts).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  core::write_durably(path, archive.finish(), core::Fault::output);
}

}  // namespace weft::experiments
