#include "data/text/column_file.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "data/files/text_file.h"

namespace weft::data {
namespace {

using core::Index;

template <class... Parts>
[[noreturn]] void refuse(const std::string& path, Index line, const Parts&... parts) {
  throw core::Error(core::Fault::data, core::message_of(path, ":", line, ": ", parts...));
}

/// Removes and returns what is before the next `end`, or all of the rest.
std::string_view take(std::string_view& rest, char end) {
  const std::size_t found = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, found);
  rest.remove_prefix(std::min(found + 1, rest.size()));
  return taken;
}

/// The place of a column that a setting gives by number or, where there is a header, by name.
std::size_t place_of(const std::string& key, const std::string& column, const std::string& path,
                     const std::optional<std::vector<std::string_view>>& header) {
  if (header) {
    const auto named = std::ranges::find(*header, std::string_view(column));
    if (named != header->end()) return std::size_t(named - header->begin());
  }
  if (const auto number = place_of_number(column)) return *number;
  if (!header)
    throw core::Error(core::message_of("data.", key, ": \"", column,
                                       "\" is no number, and without data.header = true columns "
                                       "have no names: count them from 1"));
  refuse(path, 1, "no column is named \"", column, "\": set data.", key, " to one of ",
         listed(*header));
}

}  // namespace

std::vector<ColumnLine> read_columns(const std::string& path,
                                     const std::vector<WantedColumn>& wanted, bool has_header) {
  const TextFile file = read_text_file(path);
  std::string_view rest = file.bytes;
  Index number = 0;
  const auto next_line = [&] {
    ++number;
    std::string_view line = take(rest, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  };
  std::optional<std::vector<std::string_view>> header;
  if (has_header) header = first_columns(next_line(), most_columns);
  std::vector<std::size_t> places;
  std::string keys;
  for (const WantedColumn& column : wanted) {
    places.push_back(place_of(column.key, column.column, path, header));
    keys += (keys.empty() ? "data." : " and data.") + column.key;
  }
  const std::size_t last = std::ranges::max(places);
  std::vector<ColumnLine> lines;
  while (!rest.empty()) {
    const std::vector<std::string_view> found = first_columns(next_line(), last + 1);
    if (last >= found.size())
      refuse(path, number, "has ", found.size(), found.size() == 1 ? " column" : " columns",
             ", but ", keys, " ask for ", last + 1,
             ": divide columns by tabs, correct those settings, or remove the line");
    ColumnLine& line = lines.emplace_back();
    for (const std::size_t place : places) line.texts.emplace_back(found[place]);
    line.number = number;
  }
  if (lines.empty())
    refuse(path, number, "the file ends without any line of data: name one that holds some");
  return lines;
}

std::vector<std::string_view> first_columns(std::string_view line, std::size_t most) {
  std::vector<std::string_view> columns;
  const std::size_t all = 1 + std::size_t(std::ranges::count(line, '\t'));
  while (columns.size() < std::min(all, most)) columns.push_back(take(line, '\t'));
  return columns;
}

std::optional<std::size_t> place_of_number(const std::string& column) {
  std::size_t number = 0;
  const char* const end = column.data() + column.size();
  const auto [stopped, fault] = std::from_chars(column.data(), end, number);
  if (fault != std::errc() || stopped != end || number < 1 || number > most_columns) return {};
  return number - 1;
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (text.size() > 500) return text + ", ...";
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

}  // namespace weft::data
