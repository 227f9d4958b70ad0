#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/fields.h"
#include "experiments/config/node.h"
#include "experiments/config/problem.h"

namespace weft::experiments {

/// The keys that the components of a run ask for, against which a config is checked.
class ConfigKeys {
 public:
  /// A condition that does not hold, on a key with its full path.
  using Unmet = core::FieldCondition;

  void add_key(const std::string& path) { keys_.insert(path); }
  /// Adds a section and those around it.
  void add_section(const std::string& path);
  /// Adds a key that would be asked for if all of `unmet` held, as `met` conditions around it do.
  void add_conditional(const std::string& path, std::vector<Unmet> unmet, Index met);
  /// A key that has another name now.
  void add_renamed(const std::string& old_path, const std::string& path) {
    renamed_[old_path] = path;
  }

  /// Every key and section of a config that nobody asked for: under which condition it would be
  /// used, its new name, or else the nearest one that is legal. Nothing is said of a key that
  /// depends on one that is itself wrong.
  /// `saved`: files hold the resolved settings of a run, and a key whose condition the command line
  /// has changed is no problem.
  std::vector<ConfigProblem> unknown_in(const ConfigNode& root, const std::set<std::string>& wrong,
                                        bool saved = false) const;

 private:
  friend class UnknownKeys;

  std::set<std::string> keys_;
  std::set<std::string> sections_;
  /// The ways to a key: of those that change the least, all.
  struct Ways {
    Index met = 0;
    std::vector<std::vector<Unmet>> all;
  };

  std::map<std::string, Ways> conditional_;
  std::map<std::string, std::string> renamed_;
};

}  // namespace weft::experiments
