#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weft::experiments {

/// Cells with a title, ready to be written in any form.
struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> remarks;                            ///< below the table
  std::vector<std::pair<std::size_t, std::size_t>> best = {};  ///< rows and columns to be set off
  std::string command = {};                                    ///< what the user typed for it
};

/// Aligned columns for a terminal.
std::string plain_text(const Table& table);
std::string markdown(const Table& table);
/// A floating table between rules of booktabs, with a caption and a label made of the title;
/// numbers are at the right of their columns, the best in bold.
std::string latex(const Table& table);
/// Without title and remarks; cells with commas, quotes or line breaks are quoted.
std::string csv(const Table& table);

}  // namespace weft::experiments
