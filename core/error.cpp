#include "core/error.h"

#include <charconv>

namespace weft::core {
namespace {

template <class Number, class... Format>
void append(std::string& message, Number number, Format... format) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, format...).ptr;
  message.append(digits, end);
}

}  // namespace

void append_text(std::string& message, std::string_view text) { message += text; }
void append_number(std::string& message, long long number) { append(message, number); }
void append_number(std::string& message, unsigned long long number) { append(message, number); }
void append_number(std::string& message, double number) {
  append(message, number, std::chars_format::general, 6);
}

}  // namespace weft::core
