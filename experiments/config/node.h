#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

using core::Index;

/// Where a value was set. Sorts files by line first, then the command line, then defaults.
struct ConfigOrigin {
  enum class Place { file, command_line, by_default };

  Place place = Place::by_default;
  std::string file;
  Index line = 0;
  Index column = 0;  // on the command line: which argument

  /// "configs/a.toml:12", "command line" or "default".
  std::string text() const;
  auto operator<=>(const ConfigOrigin&) const = default;
};

/// One value of a config: a table, a list or a scalar, and where it was set.
struct ConfigNode {
  using Table = std::map<std::string, ConfigNode, std::less<>>;
  using List = std::vector<ConfigNode>;

  std::variant<Table, List, bool, Index, double, std::string> value;
  ConfigOrigin origin;
  std::string spelling;  // a scalar as typed on the command line, so that text keeps "1.50"

  Table* table() { return std::get_if<Table>(&value); }
  const Table* table() const { return std::get_if<Table>(&value); }
  const List* list() const { return std::get_if<List>(&value); }
};

/// Lays one config over another: tables merge key by key, anything else is replaced.
void lay_over(ConfigNode& below, ConfigNode above);

/// "section.key", or just "key" at the top level.
std::string join_path(std::string_view section, std::string_view key);
/// "a.b" of "a.b.key"; empty at the top level.
std::string section_of(std::string_view path);
/// "key" of "a.b.key".
std::string_view name_of(std::string_view path);
/// "a", "b" and "key" of "a.b.key".
std::vector<std::string> parts_of(std::string_view path);
/// Whether `key` is made of letters, digits, _ and - only, as every key of a config must be.
bool is_plain_key(std::string_view key);

}  // namespace weft::experiments
