#include "data/documents/document_lines.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/files/json_text.h"

namespace weft::data {

DocumentRule::Form DocumentRule::form_named(const std::string& name) {
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

DocumentLines::Place DocumentLines::place(bool is_empty) {
  using Form = DocumentRule::Form;
  const bool fields = !rule_.field.empty();
  ++lines_;
  if (is_empty) ++empty_lines_;
  if (is_empty && (!any_ || rule_.form == Form::lines || fields)) return Place::none;
  const Place place = is_empty || goes_on_ ? Place::goes_on : Place::begins;
  any_ = true;
  goes_on_ = !fields && (rule_.form == Form::files || (rule_.form == Form::blank && !is_empty));
  return place;
}

bool DocumentLines::is_empty(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string DocumentLines::field_of(std::string_view line, const std::string& place) const {
  return json_string(parse_record(line, place, {rule_.field}), rule_.field.c_str(), place);
}

}  // namespace weft::data
