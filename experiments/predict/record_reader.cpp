#include "experiments/predict/record_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/files/json_text.h"
#include "data/text/column_file.h"

namespace weft::experiments {

RecordReader::RecordReader(std::istream& in, RecordForm form) : in_(in), form_(std::move(form)) {
  if (form_.kind == RecordForm::Kind::columns) find_columns();
}

bool RecordReader::read_line(std::string& line) {
  if (!std::getline(in_, line)) return false;
  ++line_;
  bytes_ += line.size() + 1;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

void RecordReader::find_columns() {
  const bool named = std::ranges::any_of(
      form_.places, [](const std::string& c) { return !data::place_of_number(c); });
  std::string line;
  std::vector<std::string_view> header;
  if ((form_.header || named) && read_line(line))
    header = data::first_columns(line, data::most_columns);
  for (const std::string& column : form_.places) {
    const auto found = std::ranges::find(header, column);
    if (found != header.end())
      columns_.push_back(std::size_t(found - header.begin()));
    else if (const auto number = data::place_of_number(column))
      columns_.push_back(*number);
    else {
      throw core::Error(core::Fault::data, "--column " + column +
                                               ": the first line names no such column, but " +
                                               (header.empty() ? "nothing" : data::listed(header)));
    }
  }
}

void RecordReader::read_columns(const std::string& line, Record& record) const {
  const std::size_t last = std::ranges::max(columns_);
  const std::vector<std::string_view> columns = data::first_columns(line, last + 1);
  if (last >= columns.size()) {
    record.problem =
        core::message_of("has ", columns.size(), columns.size() == 1 ? " column" : " columns",
                         ", and column ", last + 1, " is asked for");
    return;
  }
  for (const std::size_t column : columns_) record.texts.emplace_back(columns[column]);
}

void RecordReader::read_fields(const std::string& line, Record& record) const {
  try {
    const nlohmann::json object =
        data::parse_record(line, "the line", {form_.places.begin(), form_.places.end()});
    for (const std::string& field : form_.places)
      record.texts.push_back(data::json_string(object, field.c_str(), "the line"));
  } catch (const core::Error& error) {
    record.problem = error.what();
  }
}

std::optional<Record> RecordReader::next() {
  std::string line;
  if (!read_line(line)) {
    if (in_.bad())
      throw core::Error(core::Fault::data,
                        core::message_of("the input could not be read after line ", line_));
    return {};
  }
  Record record{.line = line_, .texts = {}};
  const bool empty = line.empty();
  if (empty || form_.kind == RecordForm::Kind::lines)
    record.texts.push_back(std::move(line));
  else if (form_.kind == RecordForm::Kind::columns)
    read_columns(line, record);
  else
    read_fields(line, record);
  return record;
}

}  // namespace weft::experiments
