#include "data/summaries/pair_file.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/files/json_text.h"
#include "data/files/text_file.h"
#include "data/text/column_file.h"

namespace weft::data {
namespace {

using core::Index;

std::string line_name(const std::string& path, Index line) {
  return core::message_of(path, ":", line);
}

template <class... Parts>
[[noreturn]] void refuse(const std::string& where, const Parts&... parts) {
  throw core::Error(core::Fault::data, core::message_of(where, ": ", parts...));
}

std::string without_escapes(const std::string& text, const std::string& where) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
      continue;
    }
    const char named = ++i < text.size() ? text[i] : '\0';
    if (named != 'n' && named != 't' && named != '\\')
      refuse(where, "a backslash is followed by ",
             named == '\0' ? std::string("nothing") : std::string{'\'', named, '\''},
             ": write \\n, \\t or \\\\, or set data.escapes = false");
    plain += named == 'n' ? '\n' : named == 't' ? '\t' : '\\';
  }
  return plain;
}

PairLine checked(PairLine pair, const std::string& where) {
  for (const auto& [name, text] : {std::pair{"source", &pair.source}, {"target", &pair.target}})
    if (text->empty()) refuse(where, "the ", name, " is empty: write one, or remove the line");
  return pair;
}

std::vector<PairLine> read_json_lines(const std::string& path, const PairFields& fields) {
  const TextFile file = read_text_file(path);
  std::vector<PairLine> pairs;
  std::string_view rest = file.bytes;
  for (Index number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = line_name(path, number);
    const nlohmann::json json = parse_record(line, where, {fields.source, fields.target});
    pairs.push_back(checked({json_string(json, fields.source.c_str(), where),
                             json_string(json, fields.target.c_str(), where)},
                            where));
  }
  if (pairs.empty()) refuse(path, "holds no line of JSON: name a file that holds some");
  return pairs;
}

}  // namespace

std::vector<PairLine> read_pair_file(const std::string& path, const PairFields& fields) {
  if (fields.json) return read_json_lines(path, fields);
  std::vector<PairLine> pairs;
  for (ColumnLine& line :
       read_columns(path, {{"source_column", fields.source}, {"target_column", fields.target}},
                    fields.header)) {
    const std::string where = line_name(path, line.number);
    if (fields.escapes)
      for (std::string& text : line.texts) text = without_escapes(text, where);
    pairs.push_back(checked({std::move(line.texts[0]), std::move(line.texts[1])}, where));
  }
  return pairs;
}

}  // namespace weft::data
