#include "experiments/draw/table.h"

#include <algorithm>
#include <cctype>
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

/// Whether every cell of a column begins like a number, or is missing.
bool holds_numbers(const Table& table, std::size_t column) {
  bool any = false;
  for (const Row& row : table.rows) {
    const std::string& cell = row[column];
    if (cell.empty() || cell == "—") continue;
    const std::size_t first = cell.find_first_not_of("+-");
    if (first == std::string::npos || !std::isdigit(static_cast<unsigned char>(cell[first])))
      return false;
    any = true;
  }
  return any;
}

/// The argument of \label: "recall-length-128".
std::string label_of(const std::string& title) {
  std::string label;
  for (const char c : title)
    if (std::isalnum(static_cast<unsigned char>(c)))
      label += char(std::tolower(static_cast<unsigned char>(c)));
    else if (!label.empty() && label.back() != '-')
      label += '-';
  return label.ends_with('-') ? label.substr(0, label.size() - 1) : label;
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
  std::string columns;
  for (std::size_t i = 0; i < table.header.size(); ++i)
    columns += holds_numbers(table, i) ? 'r' : 'l';
  std::string caption = table.title;
  for (const std::string& remark : table.remarks)
    caption += (caption.ends_with('.') ? " " : ". ") + remark;
  std::string text;
  if (!table.command.empty()) text += "% " + on_one_line(table.command) + "\n";
  text += "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{" +
          for_latex(caption) + "}\n\\label{tab:" + label_of(table.title) + "}\n\\begin{tabular}{" +
          columns + "}\n\\toprule\n";
  text += joined(mapped(table.header, for_latex), "", " & ", " \\\\\n\\midrule\n");
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    Row cells = mapped(table.rows[row], for_latex);
    for (const auto& [at, column] : table.best)
      if (at == row) cells[column] = "\\textbf{" + cells[column] + "}";
    text += joined(cells, "", " & ", " \\\\\n");
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

std::string csv(const Table& table) {
  std::string text = joined(mapped(table.header, for_csv), "", ",", "\n");
  for (const Row& row : table.rows) text += joined(mapped(row, for_csv), "", ",", "\n");
  return text;
}

}  // namespace weft::experiments
