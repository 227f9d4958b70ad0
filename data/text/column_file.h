#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/tokens.h"

namespace weft::data {

/// A column that a setting asks for: its number, from 1, or its name in the header.
struct WantedColumn {
  std::string key;  ///< of [data], for errors
  std::string column;
};

/// A line of a file: the wanted columns, in their order.
struct ColumnLine {
  std::vector<std::string> texts;
  core::Index number;  ///< from 1
};

/// The lines of a file of columns divided by tabs, without quoting; a line may end in \r\n.
/// `header`: the first line names the columns. What is wrong with a line is a data error that gives
/// file and line.
std::vector<ColumnLine> read_columns(const std::string& path,
                                     const std::vector<WantedColumn>& wanted, bool header);

constexpr std::size_t most_columns = 65536;  // that can be named, or asked for by number

/// The first columns of a line, at most `most`.
std::vector<std::string_view> first_columns(std::string_view line, std::size_t most);
/// The place of a column that is given by its number, counted from 1; nothing for a name.
std::optional<std::size_t> place_of_number(const std::string& column);
/// "a, b, c", as far as an error message may go.
std::string listed(const std::vector<std::string_view>& names);

}  // namespace weft::data
