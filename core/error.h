#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft::core {

/// What a failure is about; the program turns it into its exit code.
enum class Fault { usage, diverged, data, checkpoint, output };

/// The one exception of the library: what went wrong, where, and what to do about it.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  explicit Error(const std::string& message) : Error(Fault::usage, message) {}
  /// The reason, and what to do about it; what() is "REASON. ADVICE".
  Error(Fault fault, const std::string& reason, const std::string& advice)
      : std::runtime_error(reason + ". " + advice),
        fault_(fault),
        reason_(reason),
        advice_(advice) {}

  Fault fault() const { return fault_; }
  std::string reason() const { return advice_.empty() ? what() : reason_; }
  /// Empty where the message does not keep it apart.
  const std::string& advice() const { return advice_; }

 private:
  Fault fault_;
  std::string reason_, advice_;
};

void append_text(std::string& message, std::string_view text);
void append_number(std::string& message, long long number);
void append_number(std::string& message, unsigned long long number);
/// With at most six digits, as a stream prints it.
void append_number(std::string& message, double number);

/// Text, a character, a number, or a type that has a to_string. Formatting is out of line, and
/// this header without <sstream>, because nearly every source includes it.
template <class Part>
void append_part(std::string& message, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>)
    append_text(message, part);
  else if constexpr (std::is_same_v<Part, char>)
    append_text(message, {&part, 1});
  else if constexpr (std::is_floating_point_v<Part>)
    append_number(message, double(part));
  else if constexpr (std::is_unsigned_v<Part>)
    append_number(message, static_cast<unsigned long long>(part));
  else if constexpr (std::is_integral_v<Part>)
    append_number(message, static_cast<long long>(part));
  else
    append_text(message, to_string(part));
}

/// The parts of a message, printed one after the other.
template <class... Parts>
std::string message_of(const Parts&... parts) {
  std::string message;
  (append_part(message, parts), ...);
  return message;
}

/// Throws Error with the given message parts unless `ok`.
template <class... Parts>
void require(bool ok, const Parts&... parts) {
  if (!ok) throw Error(message_of(parts...));
}

}  // namespace weft::core
