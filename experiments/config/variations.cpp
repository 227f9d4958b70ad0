#include "experiments/config/variations.h"

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<Variant> variants_of(const std::vector<std::string>& varied) {
  std::vector<Variant> all{{}};
  for (const std::string& text : varied) {
    const std::size_t equals = text.find('=');
    const auto values = split_at_commas(equals == std::string::npos ? "" : text.substr(equals + 1));
    core::require(!values.empty(), "--vary ", text, " is not section.key=value,value,...");
    std::vector<Variant> next;
    for (const Variant& variant : all)
      for (const std::string& value : values) {
        next.push_back(variant);
        next.back().push_back(text.substr(0, equals + 1) + without_kilo(value));
      }
    all = std::move(next);
  }
  return all;
}

std::string name_of(const Variant& variant) {
  std::string name;
  for (const std::string& argument : variant) {
    if (!name.empty()) name += ' ';
    const std::string key = argument.substr(0, argument.find('='));
    const std::size_t dot = key.rfind('.');
    name += argument.substr(dot == std::string::npos ? 0 : dot + 1);
  }
  return name.empty() ? "as it is" : name;
}

}  // namespace weft::experiments
