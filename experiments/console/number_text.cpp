#include "experiments/console/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace weft::experiments {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[512];  // the largest double has 309 digits before the point
  return std::string(text, std::size_t(std::snprintf(text, sizeof text, format, values...)));
}

const std::string unknown = "—";

/// "1e-06" as people write it: "1e-6".
std::string shorten_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  const std::string sign = text[e + 1] == '-' ? "-" : "";
  const std::size_t first = text.find_first_not_of("+-0", e + 1);
  return text.substr(0, e + 1) + sign + text.substr(first);
}

}  // namespace

std::string format_exact(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return shorten_exponent(std::string(buffer, end));
}

std::string format_fixed(double value, int decimals) {
  return std::isfinite(value) ? formatted("%.*f", decimals, value) : unknown;
}

std::string format_signed(double value, int decimals) {
  return std::isfinite(value) ? formatted("%+.*f", decimals, value) : unknown;
}

std::string format_count(double count) {
  if (!std::isfinite(count)) return "?";
  if (count < 1000) return format_fixed(count, 0);
  return count < 1e6 ? format_fixed(count / 1e3, 1) + "k" : format_fixed(count / 1e6, 1) + "M";
}

std::string format_number_of(double count, const std::string& noun) {
  return format_fixed(count, 0) + " " + noun + (count == 1 ? "" : "s");
}

std::string without_kilo(const std::string& text) {
  const std::size_t digits = text.size() - 1;
  const bool is_kilo = text.size() >= 2 && text.size() <= 10 && text.back() == 'k' &&
                       text.find_first_not_of("0123456789") == digits;
  return is_kilo ? std::to_string(1024 * std::stoll(text.substr(0, digits))) : text;
}

std::string format_mib(double bytes) { return format_fixed(bytes / (1 << 20), 1); }

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e9) return "?";
  const long whole = std::lround(std::max(seconds, 0.0));
  const long minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (whole < 60) return formatted("%lds", whole);
  if (hours < 1) return formatted("%ldm", minutes);
  if (days < 1) return formatted("%ldh%02ldm", hours, minutes % 60);
  return formatted("%ldd%02ldh", days, hours % 24);
}

}  // namespace weft::experiments
