#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/node.h"

namespace weft::experiments {

/// A config as written: TOML files laid over each other, command-line arguments on top, and for
/// each value where it was set. What the keys mean is not known here.
class ConfigTree {
 public:
  /// No file: every setting at its default.
  ConfigTree() = default;

  /// Reads a TOML file, the files named in its `include = ["other.toml", ...]` under it (paths
  /// relative to the including file, a later one over an earlier one), and `section.key=value`
  /// arguments over all. Throws every unreadable file, syntax error and malformed argument at once.
  static ConfigTree load(const std::string& path, const std::vector<std::string>& arguments = {});

  /// The same for text held in memory, say the resolved config of a checkpoint; `name` names
  /// the file in origins. Such a text includes nothing.
  static ConfigTree from_text(std::string_view text, const std::string& name,
                              const std::vector<std::string>& arguments = {});

  /// The same config with one more value laid over it, at "section.key".
  ConfigTree with(const std::string& path, ConfigNode value) const;

  /// The same config without the value at "section.key".
  ConfigTree without(const std::string& path) const;

  /// The value at "section.key", "attention.mix.groups[1].heads", ...; the root at "".
  const ConfigNode* find(std::string_view path) const;
  const ConfigNode& root() const { return root_; }

  /// The names of the tables in a section, sorted: [attention.NAME] under "attention".
  std::vector<std::string> tables_under(std::string_view section) const;

 private:
  ConfigNode root_;
};

}  // namespace weft::experiments
