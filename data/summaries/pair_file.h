#pragma once

#include <string>
#include <vector>

#include "core/arrays/tokens.h"

namespace weft::data {

/// Where a file has its sources and targets.
struct PairFields {
  bool json = false;                       ///< a JSON object a line, else columns divided by tabs
  std::string source = "1", target = "2";  ///< columns, or fields of the objects
  bool header = false;                     ///< columns: the first line names them
  bool escapes = false;                    ///< columns: \n, \t and \\ are escapes
};

/// A source and what should be made of it.
struct PairLine {
  std::string source, target;
};

/// The pairs of a file, one a line. What is wrong with a line, an empty source or target included,
/// is a data error that gives file and line.
std::vector<PairLine> read_pair_file(const std::string& path, const PairFields& fields);

}  // namespace weft::data
