#include "experiments/console/number_text.h"

#include <algorithm>
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

}  // namespace

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
