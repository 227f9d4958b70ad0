#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "data/documents/document_lines.h"

namespace weft::data {

/// A part of a document.
struct DocumentPart {
  std::string_view text;
  core::Index at = 0;  ///< its first byte in the file; where documents are fields, that of the line
  bool begins = false;  ///< a document, which is no continuation
};

/// Cuts a file that is read piece by piece into the documents of DocumentFile. It keeps one piece
/// at most, or a line where lines are JSON.
class DocumentStream {
 public:
  using Take = std::function<void(const DocumentPart&)>;

  /// `path` names the file in errors.
  DocumentStream(std::string path, const DocumentRule& rule, Take take)
      : path_(std::move(path)),
        fields_(!rule.field.empty()),
        lines_(rule),
        take_(std::move(take)) {}

  void add(std::string_view piece);
  /// After the last piece.
  void finish();
  core::Index empty_lines() const { return lines_.empty_lines(); }

 private:
  void take_line(std::string_view line);
  void begin_long_line();
  void hand_on(std::string_view text, DocumentLines::Place place);

  std::string path_;
  bool fields_;
  DocumentLines lines_;
  Take take_;
  std::string rest_;     ///< of a line whose end has not been read
  core::Index at_ = 0;   ///< where that begins
  bool inside_ = false;  ///< of a line whose beginning has been handed on
};

}  // namespace weft::data
