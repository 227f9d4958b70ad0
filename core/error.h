#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace weft::core {

/// What a failure is about; the program turns it into its exit code.
enum class Fault { usage, diverged, data, checkpoint, output };

/// The one exception of the library: what went wrong, where, and what to do about it.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  explicit Error(const std::string& message) : Error(Fault::usage, message) {}
  /// The reason by itself, and what to do about it; what() is "REASON. ADVICE".
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

/// The parts of a message, printed one after the other.
template <class... Parts>
std::string message_of(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Throws Error with the given message parts unless `ok`.
template <class... Parts>
void require(bool ok, const Parts&... parts) {
  if (!ok) throw Error(message_of(parts...));
}

}  // namespace weft::core
