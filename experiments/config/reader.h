#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/fields.h"
#include "experiments/config/reading.h"
#include "experiments/config/tree.h"

namespace weft::experiments {

/// Reads a whole config, section by section, and reports all that is wrong with it at once:
///
///     ConfigReader reader(ConfigTree::load(path, arguments));
///     settings.data.fields(reader.section("data"));
///     settings.model.fields(reader.section("model"));
///     reader.finish();
///
/// After finish() every setting is legal and `resolved` holds them all.
class ConfigReader {
 public:
  /// Which names of keys are accepted: as they are now, or also as an earlier weft called them in a
  /// config that it saved.
  enum class Names { today, earlier };

  explicit ConfigReader(ConfigTree tree, Names names = Names::today) : tree_(std::move(tree)) {
    reading_.takes_old_names = names == Names::earlier;
  }
  ConfigReader(const ConfigReader&) = delete;
  ConfigReader& operator=(const ConfigReader&) = delete;

  /// The visitor that fills the settings of a section: "" for the top level, "data",
  /// "attention.local". It lives as long as the reader. Asking for "attention" makes it a legal
  /// section even when no key of its own is read.
  core::Fields& section(const std::string& path);

  /// Reports a problem with the value at "section.key" that the section alone cannot see.
  void problem(const std::string& path, const std::string& message,
               const std::string& suggestion = "");

  /// Throws every problem, the keys that nobody asked for among them; returns when there is none.
  void finish();

  const ConfigTree& tree() const { return tree_; }
  const ResolvedConfig& resolved() const { return reading_.resolved; }
  std::string resolved_toml() const { return reading_.resolved.toml(); }

 private:
  void require_tables_along(const std::string& path);

  const ConfigTree tree_;
  ConfigReading reading_;
  std::map<std::string, std::unique_ptr<ReadingFields>> sections_;
};

}  // namespace weft::experiments
