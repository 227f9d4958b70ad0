#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/text/text_file.h"

namespace weft::experiments {

/// A file of documents, one on each line: the line itself, or a text field of the JSON object that
/// the line holds. Lines without anything in them are no documents.
class DocumentFile {
 public:
  /// `field` is empty where lines are documents. A line without that field is an Error
  /// (Fault::data) that names it.
  DocumentFile(const std::string& path, const std::string& field);

  /// The texts to compare.
  std::vector<std::string_view> texts() const;
  /// The line of a document, counted from 1.
  core::Index line(core::Index document) const { return documents_[std::size_t(document)].line; }
  /// The file without some documents, given in rising order; all other bytes as they are.
  std::string without(const std::vector<core::Index>& documents) const;

 private:
  struct Document {
    core::Index line = 0;
    std::size_t begin = 0, end = 0;  ///< bytes of the line, its end included
    std::string field = {};
  };

  data::TextFile file_;
  bool fields_;
  std::vector<Document> documents_;
};

}  // namespace weft::experiments
