#pragma once

#include <string>
#include <string_view>

#include "core/real.h"

namespace weft::data {

/// How a file is cut into documents.
struct DocumentRule {
  enum class Form { lines, blank, files };

  Form form = Form::lines;  ///< a line each, what empty lines divide, or the whole file
  std::string field = {};   ///< not empty: each line is a JSON object, and this field is the text

  /// "lines", "blank" or "files"; anything else is an Error.
  static Form form_named(const std::string& name);
  /// "a line", "what empty lines divide", ...
  std::string words() const;
};

/// To which document each line of a file belongs, from the first line to the last. Lines without
/// anything in them are no documents.
class DocumentLines {
 public:
  enum class Place { none, begins, goes_on };

  explicit DocumentLines(const DocumentRule& rule) : rule_(rule) {}

  /// Of the next line: whether it begins a document, or belongs to the one before or to none.
  Place place(bool is_empty);
  /// How many lines there were, and how many with nothing in them.
  core::Index lines() const { return lines_; }
  core::Index empty_lines() const { return empty_lines_; }

  /// Whether a line, with its line end, has nothing in it.
  static bool is_empty(std::string_view line);
  /// The text of a document that is a line of JSON; an Error (Fault::data) that begins with `place`
  /// where there is none.
  std::string field_of(std::string_view line, const std::string& place) const;

 private:
  DocumentRule rule_;
  core::Index lines_ = 0, empty_lines_ = 0;
  bool any_ = false, goes_on_ = false;  ///< a document has begun, and has the next line too
};

}  // namespace weft::data
