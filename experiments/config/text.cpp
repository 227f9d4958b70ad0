#include "experiments/config/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft::experiments {
namespace {

/// "1e-06" as people write it: "1e-6".
std::string shorten_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  const std::string sign = text[e + 1] == '-' ? "-" : "";
  const std::size_t first = text.find_first_not_of("+-0", e + 1);
  return text.substr(0, e + 1) + sign + text.substr(first);
}

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

std::size_t characters(std::string_view utf8) {
  return std::size_t(std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string toml_text(bool value) { return value ? "true" : "false"; }

std::string toml_text(Index value) { return std::to_string(value); }

std::string digits(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return shorten_exponent(std::string(buffer, end));
}

std::string toml_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const std::string text = digits(value);
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

std::string align(const std::vector<std::vector<std::string>>& rows, std::size_t widest) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      if (characters(row[i]) <= widest) widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 == row.size()) break;
      const std::size_t used = characters(row[i]);
      line.append(2 + (used < widths[i] ? widths[i] - used : 0), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace weft::experiments
