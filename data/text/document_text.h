#pragma once

#include "data/documents/document_lines.h"
#include "data/text/divided_text.h"

namespace weft::data {

/// How a text is cut into documents, each of which is in one split as a whole.
struct TextDocuments {
  DocumentRule rule;
  /// Keeps them apart by a token of its own, before the first and after each; else line ends do.
  bool boundaries = false;
  std::uint64_t seed = 1;  ///< draws them into splits, where these have no files of their own
};

/// What was found in a text of documents.
struct DocumentFacts {
  TextFacts text;
  std::array<Index, 3> documents{};  ///< by Split
  Index empty_lines = 0;
};

/// A text of documents in memory.
struct DocumentText {
  DocumentFacts facts;
  PackedTokens tokens;
};

/// Reads the files of a division whose fractions, where given, are shares of documents, piece by
/// piece, and hands over their tokens. Files are read twice where documents are drawn into splits
/// or tokens are characters. Memory does not depend on their length, but for some forty bytes for
/// each document that is drawn.
DocumentFacts encode_document_text(const TextDivision& division, const TextDocuments& how,
                                   TokenRuns& runs);

/// The same to memory.
DocumentText read_document_text(const TextDivision& division, const TextDocuments& how);

}  // namespace weft::data
