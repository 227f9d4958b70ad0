#include "experiments/config/resolved.h"

#include <xxhash.h>

#include <algorithm>

#include "experiments/config/text.h"
#include "experiments/console/columns.h"

namespace weft::experiments {
namespace {

/// "[model]", or "[[attention.mix.groups]]" for one of a list.
std::string header_of(const std::string& path) {
  std::string name;
  bool in_index = false;
  for (const char c : path) {
    if (c == '[') in_index = true;
    if (!in_index) name += c;
    if (c == ']') in_index = false;
  }
  return path.ends_with(']') ? "[[" + name + "]]\n" : "[" + name + "]\n";
}

bool is_inside(const std::string& path, const std::string& section) {
  return path.starts_with(section + ".") || path.starts_with(section + "[");
}

}  // namespace

void ResolvedConfig::add_section(const std::string& path) { section_at(path); }

ResolvedConfig::Section& ResolvedConfig::section_at(const std::string& path) {
  const auto found = std::ranges::find(sections_, path, &Section::path);
  if (found != sections_.end()) return *found;
  // TOML wants a list inside a table of a list before the next table of the outer one.
  const std::string owner = section_of(path);
  auto place = sections_.end();
  if (owner.ends_with(']'))
    while (place[-1].path != owner && !is_inside(place[-1].path, owner)) --place;
  return *sections_.insert(place, Section{path, {}});
}

void ResolvedConfig::record(const std::string& section, std::string_view key, std::string toml,
                            const ConfigOrigin& origin, InHash in_hash) {
  std::vector<Value>& values = section_at(section).values;
  const auto found = std::ranges::find(values, key, &Value::key);
  Value value{std::string(key), std::move(toml), origin, std::move(in_hash)};
  if (found == values.end())
    values.push_back(std::move(value));
  else
    *found = std::move(value);
}

std::string ResolvedConfig::value_of(const std::string& path) const {
  for (const Section& section : sections_)
    if (section.path == section_of(path))
      for (const Value& value : section.values)
        if (value.key == name_of(path)) return value.toml;
  return "";
}

std::string ResolvedConfig::toml(const std::vector<std::string>& without) const {
  return toml(without, Keys::today);
}

std::string ResolvedConfig::toml(const std::vector<std::string>& without, Keys keys) const {
  std::string text;
  for (const Section& section : sections_) {
    std::string lines;
    for (const Value& value : section.values) {
      const auto& [old_key, left_out] = value.in_hash;
      const bool hashed = keys == Keys::hashed;
      if ((hashed && left_out) ||
          std::ranges::find(without, join_path(section.path, value.key)) != without.end())
        continue;
      lines += (hashed && !old_key.empty() ? old_key : value.key) + " = " + value.toml + "\n";
    }
    if (lines.empty() && !section.path.ends_with(']')) continue;
    if (!text.empty()) text += "\n";
    text += (section.path.empty() ? "" : header_of(section.path)) + lines;
  }
  return text;
}

std::string ResolvedConfig::hash(const std::vector<std::string>& without) const {
  const std::string text = toml(without, Keys::hashed);
  std::uint64_t value = XXH3_64bits(text.data(), text.size());
  std::string hex(16, '0');
  for (auto digit = hex.rbegin(); digit != hex.rend(); ++digit, value >>= 4)
    *digit = "0123456789abcdef"[value & 15];
  return hex;
}

std::map<std::string, std::string> ResolvedConfig::values() const {
  std::map<std::string, std::string> all;
  for (const Section& section : sections_)
    for (const Value& value : section.values) all[join_path(section.path, value.key)] = value.toml;
  return all;
}

std::string ResolvedConfig::listing() const {
  std::vector<std::vector<std::string>> rows;
  for (const Section& section : sections_)
    for (const Value& value : section.values)
      rows.push_back(
          {join_path(section.path, value.key) + " = " + value.toml, "# " + value.origin.text()});
  return format_columns(rows, 50);
}

}  // namespace weft::experiments
