#pragma once

#include <string>
#include <vector>

namespace weft::experiments {

/// Rows of cells as lines of text in columns; a cell of more than `widest` characters does not
/// widen its column.
std::string format_columns(const std::vector<std::vector<std::string>>& rows, std::size_t widest);

}  // namespace weft::experiments
