#include "experiments/report/table.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "experiments/console/columns.h"

namespace weft::experiments {
namespace {

using Row = std::vector<std::string>;

std::string joined(const Row& row, const std::string& before, const std::string& between,
                   const std::string& after) {
  std::string text = before;
  for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? between : "") + row[i];
  return text + after;
}

Row mapped(Row row, std::string (*change)(const std::string&)) {
  for (std::string& cell : row) cell = change(cell);
  return row;
}

std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string for_markdown(const std::string& cell) {
  std::string text;
  for (const char c : cell) {
    if (c == '\n' || c == '\r')
      text += ' ';
    else if (c == '<')
      text += "&lt;";
    else if (c == '&')
      text += "&amp;";
    else if (std::string_view("|\\`*[]").find(c) != std::string_view::npos)
      text += {'\\', c};
    else
      text += c;
  }
  return text;
}

std::string for_latex(const std::string& cell) {
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const char c = cell[i];
    if (std::string("&%$#_{}").find(c) != std::string::npos)
      text += {'\\', c};
    else if (c == '\\')
      text += "\\textbackslash{}";
    else if (c == '~' || c == '^')
      text += std::string("\\") + c + "{}";
    else if (c == '\n' || c == '\r')
      text += ' ';
    else
      text += c;
  }
  for (const auto& [sign, command] :
       {std::pair<std::string, std::string>{"±", "$\\pm$"}, {"—", "---"}, {"Δ", "$\\Delta$"}})
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += command.size())
      text.replace(at, sign.size(), command);
  return text;
}

bool is_number(const std::string& cell) {
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const char* const begin = cell.data() + (cell.starts_with('+') ? 1 : 0);
  const auto [stopped, fault] = std::from_chars(begin, end, value);
  return fault == std::errc() && stopped == end;
}

/// A cell that a spreadsheet would take for a formula begins with an apostrophe.
std::string for_csv(const std::string& cell) {
  const bool formula =
      !cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos;
  const std::string shown = formula && !is_number(cell) ? "'" + cell : cell;
  if (shown.find_first_of(",\"\n\r") == std::string::npos) return shown;
  std::string text = "\"";
  for (const char c : shown) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace

std::string plain_text(const Table& table) {
  std::vector<Row> rows{table.header};
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  std::string text = table.title + "\n" + format_columns(rows, 40);
  for (const std::string& remark : table.remarks) text += remark + "\n";
  return text;
}

std::string markdown(const Table& table) {
  std::string text = "## " + for_markdown(table.title) + "\n\n";
  text += joined(mapped(table.header, for_markdown), "| ", " | ", " |\n");
  text += joined(Row(table.header.size(), "---"), "|", "|", "|\n");
  for (const Row& row : table.rows) text += joined(mapped(row, for_markdown), "| ", " | ", " |\n");
  for (const std::string& remark : table.remarks) text += "\n" + for_markdown(remark) + "\n";
  return text;
}

std::string latex(const Table& table) {
  std::string text = "% " + on_one_line(table.title) + "\n\\begin{tabular}{" +
                     std::string(table.header.size(), 'l') + "}\n\\toprule\n";
  text += joined(mapped(table.header, for_latex), "", " & ", " \\\\\n\\midrule\n");
  for (const Row& row : table.rows) text += joined(mapped(row, for_latex), "", " & ", " \\\\\n");
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& remark : table.remarks) text += "% " + on_one_line(remark) + "\n";
  return text;
}

std::string csv(const Table& table) {
  std::string text = joined(mapped(table.header, for_csv), "", ",", "\n");
  for (const Row& row : table.rows) text += joined(mapped(row, for_csv), "", ",", "\n");
  return text;
}

}  // namespace weft::experiments
