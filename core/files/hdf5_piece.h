#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace weft::core::hdf5 {

using Size = std::uint64_t;

/// What HDF5 writes for an address that leads nowhere.
inline constexpr Size undefined = ~Size(0);

[[noreturn]] inline void refuse(const std::string& why) {
  throw Error(Fault::data, "it is not built as weft builds files: " + why);
}

inline void check(bool ok, const char* why) {
  if (!ok) refuse(why);
}

/// A piece of the file, read from front to back; nothing outside of it can be reached.
class Piece {
 public:
  explicit Piece(std::string bytes) : bytes_(std::move(bytes)) {}

  Size left() const { return bytes_.size() - at_; }

  Size number(Size width) {
    const std::string_view digits = text(width);
    Size value = 0;
    for (Size i = width; i-- > 0;) value = value << 8 | std::uint8_t(digits[i]);
    return value;
  }
  void expect(Size width, Size value, const char* why) { check(number(width) == value, why); }
  void skip(Size count) { text(count); }
  std::string_view text(Size count) {
    check(count <= left(), "a part is cut off");
    at_ += count;
    return std::string_view(bytes_).substr(at_ - count, count);
  }
  Piece part(Size count) { return Piece(std::string(text(count))); }

 private:
  std::string bytes_;
  Size at_ = 0;
};

}  // namespace weft::core::hdf5
