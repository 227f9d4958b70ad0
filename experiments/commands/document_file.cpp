#include "experiments/commands/document_file.h"

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace weft::experiments {
namespace {

std::string field_of(std::string_view line, const std::string& field, const std::string& place) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded())
    throw core::Error(core::Fault::data, place +
                                             ": is no JSON; leave --field out where lines are "
                                             "the documents");
  if (!json.is_object() || !json.contains(field) || !json[field].is_string())
    throw core::Error(core::Fault::data, place + ": has no text \"" + field + "\"");
  return json[field].get<std::string>();
}

}  // namespace

DocumentFile::DocumentFile(const std::string& path, const std::string& field)
    : file_(data::read_text_file(path)), fields_(!field.empty()) {
  const std::string_view bytes = file_.bytes;
  core::Index line = 0;
  for (std::size_t begin = 0, end = 0; begin < bytes.size(); begin = end) {
    const std::size_t newline = bytes.find('\n', begin);
    end = newline == std::string_view::npos ? bytes.size() : newline + 1;
    ++line;
    const std::string_view text = bytes.substr(begin, end - begin);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
    documents_.push_back({line, begin, end});
    if (fields_)
      documents_.back().field = field_of(text, field, core::message_of("'", path, "':", line));
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

}  // namespace weft::experiments
