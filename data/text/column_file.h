#pragma once

#include <string>
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

}  // namespace weft::data
