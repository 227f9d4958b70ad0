#pragma once

#include "data/documents/document_file.h"
#include "data/text/divided_text.h"

namespace weft::data {

/// How a text is cut into documents, each of which is in one split as a whole.
struct TextDocuments {
  DocumentRule rule;
  /// Keeps them apart by a token of its own, before the first and after each; else line ends do.
  bool boundaries = false;
  std::uint64_t seed = 1;  ///< draws them into splits, where these have no files of their own
};

/// A text of documents, and what was found.
struct DocumentText {
  DividedText text;
  std::array<Index, 3> documents{};  ///< by Split
  Index empty_lines = 0;
};

/// Reads the files of a division whose fractions, where given, are shares of documents.
DocumentText read_document_text(const TextDivision& division, const TextDocuments& how);

}  // namespace weft::data
