#include "experiments/report/table.h"

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

std::string for_markdown(const std::string& cell) {
  std::string text;
  for (const char c : cell) text += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
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
    else
      text += c;
  }
  for (const auto& [sign, command] :
       {std::pair<std::string, std::string>{"±", "$\\pm$"}, {"—", "---"}, {"Δ", "$\\Delta$"}})
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += command.size())
      text.replace(at, sign.size(), command);
  return text;
}

std::string for_csv(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
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
  std::string text = "## " + table.title + "\n\n";
  text += joined(mapped(table.header, for_markdown), "| ", " | ", " |\n");
  text += joined(Row(table.header.size(), "---"), "|", "|", "|\n");
  for (const Row& row : table.rows) text += joined(mapped(row, for_markdown), "| ", " | ", " |\n");
  for (const std::string& remark : table.remarks) text += "\n" + remark + "\n";
  return text;
}

std::string latex(const Table& table) {
  std::string text = "% " + table.title + "\n\\begin{tabular}{" +
                     std::string(table.header.size(), 'l') + "}\n\\toprule\n";
  text += joined(mapped(table.header, for_latex), "", " & ", " \\\\\n\\midrule\n");
  for (const Row& row : table.rows) text += joined(mapped(row, for_latex), "", " & ", " \\\\\n");
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& remark : table.remarks) text += "% " + remark + "\n";
  return text;
}

std::string csv(const Table& table) {
  std::string text = joined(mapped(table.header, for_csv), "", ",", "\n");
  for (const Row& row : table.rows) text += joined(mapped(row, for_csv), "", ",", "\n");
  return text;
}

}  // namespace weft::experiments
