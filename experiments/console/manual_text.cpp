#include "experiments/console/manual_text.h"

#include <algorithm>
#include <cctype>

namespace weft::experiments {

std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool begins = escaped.empty() || escaped.back() == '\n';
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

std::string manual_head(const std::string& name, const std::string& summary) {
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return ".TH " + roff(title) + " 1 \"\" weft\n.SH NAME\n" + roff(name) + " \\- " + roff(summary) +
         "\n";
}

}  // namespace weft::experiments
