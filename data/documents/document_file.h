#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/real.h"
#include "data/documents/document_lines.h"
#include "data/files/text_file.h"

namespace weft::data {

/// A file and its documents. Lines without anything in them are no documents.
class DocumentFile {
 public:
  /// A line without the rule's field is an Error (Fault::data) that names it.
  DocumentFile(TextFile file, const DocumentRule& rule);

  core::Index size() const { return core::Index(documents_.size()); }
  /// The texts of the documents, each with the line ends that follow it.
  std::vector<std::string_view> texts() const;
  /// The line where a document begins, counted from 1.
  core::Index line(core::Index document) const { return documents_[std::size_t(document)].line; }
  /// Lines with nothing in them.
  core::Index empty_lines() const { return empty_lines_; }
  /// The file without some documents, given in rising order; all other bytes as they are.
  std::string without(const std::vector<core::Index>& documents) const;

 private:
  struct Document {
    core::Index line = 0;
    std::size_t begin = 0, end = 0;  ///< its bytes, line ends included
    std::string field = {};
  };

  TextFile file_;
  bool fields_;
  core::Index empty_lines_ = 0;
  std::vector<Document> documents_;
};

}  // namespace weft::data
