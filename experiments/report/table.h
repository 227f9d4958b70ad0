#pragma once

#include <string>
#include <vector>

namespace weft::experiments {

/// Cells with a title, ready to be written in any form.
struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> remarks;  ///< below the table
};

/// Aligned columns for a terminal.
std::string plain_text(const Table& table);
std::string markdown(const Table& table);
/// A tabular between rules of booktabs.
std::string latex(const Table& table);
/// Without title and remarks; cells with commas, quotes or line breaks are quoted.
std::string csv(const Table& table);

}  // namespace weft::experiments
