#pragma once

#include <string>
#include <vector>

#include "core/arrays/tokens.h"

namespace weft::data {

/// Which columns of a file hold what, by their number, from 1, or by their name in the header.
struct LabelledColumns {
  std::string label = "1", text = "2";
  bool header = false;  ///< the first line names the columns
};

/// A line of a file.
struct LabelledLine {
  std::string label, text;
  core::Index number;  ///< from 1
};

/// The lines of a file of columns divided by tabs, without quoting; a line may end in \r\n. What is
/// wrong with a line is a data error that gives file and line.
std::vector<LabelledLine> read_labelled_file(const std::string& path,
                                             const LabelledColumns& columns);

}  // namespace weft::data
