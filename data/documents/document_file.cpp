#include "data/documents/document_file.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/files/json_text.h"

namespace weft::data {
namespace {

using core::Index;
using Form = DocumentRule::Form;

/// The text of a document that is a line of JSON.
std::string field_of(std::string_view line, const std::string& field, const std::string& place) {
  return json_string(parse_record(line, place, {field}), field.c_str(), place);
}

}  // namespace

Form DocumentRule::form_named(const std::string& name) {
  if (name == "lines") return Form::lines;
  if (name == "blank") return Form::blank;
  core::require(name == "files", "--documents must be lines, blank or files, not ", name);
  return Form::files;
}

std::string DocumentRule::words() const {
  if (!field.empty()) return "the field \"" + field + "\" of a line";
  return form == Form::lines   ? "a line"
         : form == Form::blank ? "what empty lines divide"
                               : "a file";
}

DocumentFile::DocumentFile(TextFile file, const DocumentRule& rule)
    : file_(std::move(file)), fields_(!rule.field.empty()) {
  const std::string_view bytes = file_.bytes;
  Index line = 0;
  bool goes_on = false;  // the line belongs to the document before it
  for (std::size_t begin = 0, end = 0; begin < bytes.size(); begin = end) {
    const std::size_t newline = bytes.find('\n', begin);
    end = newline == std::string_view::npos ? bytes.size() : newline + 1;
    ++line;
    const std::string_view text = bytes.substr(begin, end - begin);
    const bool is_empty = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (is_empty) ++empty_lines_;
    if (is_empty && (documents_.empty() || rule.form == Form::lines || fields_)) continue;
    if (is_empty || goes_on)
      documents_.back().end = end;
    else
      documents_.push_back({line, begin, end});
    goes_on = rule.form == Form::files || (rule.form == Form::blank && !is_empty);
    if (fields_) {
      goes_on = false;
      documents_.back().field =
          field_of(text, rule.field, core::message_of("'", file_.path, "':", line));
    }
  }
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
