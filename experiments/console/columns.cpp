#include "experiments/console/columns.h"

#include <algorithm>
#include <string_view>

namespace weft::experiments {
namespace {

std::size_t characters(std::string_view utf8) {
  return std::size_t(std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string format_columns(const std::vector<std::vector<std::string>>& rows, std::size_t widest) {
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
