#include "experiments/config/node.h"

#include <algorithm>

namespace weft::experiments {

std::string ConfigOrigin::text() const {
  switch (place) {
    case Place::file:
      return line > 0 ? file + ":" + std::to_string(line) : file;
    case Place::command_line:
      return "command line";
    case Place::by_default:
      break;
  }
  return "default";
}

void lay_over(ConfigNode& below, ConfigNode above) {
  ConfigNode::Table* under = below.table();
  ConfigNode::Table* over = above.table();
  if (!under || !over) {
    below = std::move(above);
    return;
  }
  below.origin = above.origin;
  for (auto& [key, node] : *over) {
    const auto [place, is_new] = under->try_emplace(key);
    if (is_new)
      place->second = std::move(node);
    else
      lay_over(place->second, std::move(node));
  }
}

std::string join_path(std::string_view section, std::string_view key) {
  std::string path(section);
  if (!path.empty()) path += '.';
  return path += key;
}

std::string section_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return std::string(dot == std::string_view::npos ? "" : path.substr(0, dot));
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_plain_key(std::string_view key) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !key.empty() && std::ranges::all_of(key, is_plain);
}

}  // namespace weft::experiments
