#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fuzz {

/// Decisions drawn from an input, byte by byte; zeros after its end.
class InputBytes {
 public:
  explicit InputBytes(std::string_view input) : rest_(input) {}

  bool at_end() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = std::uint8_t(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | byte();
    return value;
  }
  /// One of 0 .. count - 1.
  std::size_t below(std::size_t count) { return std::size_t(number(count > 256 ? 2 : 1)) % count; }
  /// Up to `most` bytes, as they are.
  std::string_view text(std::size_t most) {
    const std::string_view taken = rest_.substr(0, most);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// The lines of a text, without their ends.
inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace weft::fuzz
