#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/node.h"

namespace weft::experiments {

/// The settings of a run with every default filled in, in the order in which the components list
/// them, whatever the order in the files.
class ResolvedConfig {
 public:
  /// Makes room for a section; "attention.mix.groups[1]" is the second table of a list.
  void add_section(const std::string& path);
  /// How a value enters the hash.
  struct InHash {
    std::string old_key = {};  ///< what the key was called when it got its place; empty: as today
    bool left_out = false;     ///< the value at which a key that was added later does nothing
  };
  /// Records a value, or corrects the one recorded before.
  void record(const std::string& section, std::string_view key, std::string toml,
              const ConfigOrigin& origin, InHash in_hash);
  void record(const std::string& section, std::string_view key, std::string toml,
              const ConfigOrigin& origin) {
    record(section, key, std::move(toml), origin, InHash{});
  }

  /// The value at "section.key" as TOML; empty when none is recorded.
  std::string value_of(const std::string& path) const;

  /// A config file that gives the same run, without the keys named by their full paths.
  std::string toml(const std::vector<std::string>& without = {}) const;

  /// 16 hexadecimal digits (XXH3-64) that change when a value does, however it was set. A
  /// run is named after the first 8. `without` names the keys that do not change results.
  std::string hash(const std::vector<std::string>& without = {}) const;

  /// Every value as TOML by its full path: "model.width" -> "64".
  std::map<std::string, std::string> values() const;

  /// "model.width = 64  # configs/quickstart.toml:9", a line for each key, aligned.
  std::string listing() const;

 private:
  struct Value {
    std::string key;
    std::string toml;
    ConfigOrigin origin;
    InHash in_hash;
  };
  struct Section {
    std::string path;
    std::vector<Value> values;
  };

  Section& section_at(const std::string& path);
  /// Either with today's keys or with those that the hash was first made of.
  enum class Keys { today, hashed };
  std::string toml(const std::vector<std::string>& without, Keys keys) const;

  std::vector<Section> sections_{Section{}};  // first the keys outside any section
};

}  // namespace weft::experiments
