#include "experiments/config/text.h"

#include <cmath>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

std::string unicode_escape(unsigned char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  return std::string("\\u00") + hex[c >> 4] + hex[c & 15];
}

/// Shortens what is too long for a message, never inside a character.
std::string cut(std::string text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

struct Quotation {
  std::string operator()(const ConfigNode::Table&) const { return "a table"; }
  std::string operator()(const ConfigNode::List&) const { return "a list"; }
  std::string operator()(const auto& scalar) const { return toml_text(scalar); }
};

}  // namespace

std::string toml_text(bool value) { return value ? "true" : "false"; }

std::string toml_text(Index value) { return std::to_string(value); }

std::string toml_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const std::string text = format_exact(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string toml_text(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\')
      text += {'\\', c};
    else if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      text += unicode_escape(static_cast<unsigned char>(c));
    else
      text += c;
  }
  return text + '"';
}

std::string quote(std::string_view text) { return cut(toml_text(text)); }

std::string quote(const ConfigNode& node) { return cut(std::visit(Quotation{}, node.value)); }

}  // namespace weft::experiments
