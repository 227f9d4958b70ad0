#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

/// The input of a prediction: a text, or a question and its document.
struct Record {
  core::Index line = 0;            ///< of the input, from 1
  std::vector<std::string> texts;  ///< as many as the task needs
  std::string problem = {};        ///< why the line could not be read; empty where it was
};

/// Where the texts of a record are.
struct RecordForm {
  enum class Kind { lines, columns, json };

  Kind kind = Kind::lines;          ///< a line is a text, has columns divided by tabs, or is JSON
  std::vector<std::string> places;  ///< numbers, from 1, or names of columns; names of fields
  bool header = false;              ///< the first line names the columns
};

/// Reads records from a stream, one line at a time; a line may end in \r\n.
class RecordReader {
 public:
  /// Columns that the header does not name are a data error.
  RecordReader(std::istream& in, RecordForm form);

  /// Nothing at the end.
  std::optional<Record> next();
  /// Of the stream, so far.
  std::uint64_t bytes() const { return bytes_; }

 private:
  bool read_line(std::string& line);
  void find_columns();
  void read_columns(const std::string& line, Record& record) const;
  void read_fields(const std::string& line, Record& record) const;

  std::istream& in_;
  RecordForm form_;
  std::vector<std::size_t> columns_;  ///< from 0
  core::Index line_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace weft::experiments
