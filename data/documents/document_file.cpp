#include "data/documents/document_file.h"

#include "core/error.h"

namespace weft::data {

DocumentFile::DocumentFile(TextFile file, const DocumentRule& rule)
    : file_(std::move(file)), fields_(!rule.field.empty()) {
  const std::string_view bytes = file_.bytes;
  DocumentLines lines(rule);
  for (std::size_t begin = 0, end = 0; begin < bytes.size(); begin = end) {
    const std::size_t newline = bytes.find('\n', begin);
    end = newline == std::string_view::npos ? bytes.size() : newline + 1;
    const std::string_view text = bytes.substr(begin, end - begin);
    const auto place = lines.place(DocumentLines::is_empty(text));
    if (place == DocumentLines::Place::none) continue;
    if (place == DocumentLines::Place::begins) documents_.push_back({lines.lines(), begin, end});
    documents_.back().end = end;
    if (fields_)
      documents_.back().field =
          lines.field_of(text, core::message_of("'", file_.path, "':", lines.lines()));
  }
  empty_lines_ = lines.empty_lines();
}

std::vector<std::string_view> DocumentFile::texts() const {
  std::vector<std::string_view> texts;
  const std::string_view bytes = file_.bytes;
  for (const Document& document : documents_)
    texts.push_back(fields_ ? std::string_view(document.field)
                            : bytes.substr(document.begin, document.end - document.begin));
  return texts;
}

std::string DocumentFile::without(const std::vector<core::Index>& documents) const {
  std::string out;
  out.reserve(file_.bytes.size());
  std::size_t at = 0;
  for (const core::Index document : documents) {
    const Document& dropped = documents_[std::size_t(document)];
    out.append(file_.bytes, at, dropped.begin - at);
    at = dropped.end;
  }
  return out.append(file_.bytes, at);
}

}  // namespace weft::data
