#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config_fields_describing.h"
#include "experiments/config_node.h"
#include "experiments/config_problem.h"

namespace weft::experiments {

/// The keys that the components of a run ask for, against which a config is checked.
class ConfigKeys {
 public:
  void add_key(const std::string& path) { keys_.insert(path); }
  /// Adds a section and those around it.
  void add_section(const std::string& path);

  /// A visitor for the settings that `section` would have if `selector` in it were `kind`: a config
  /// that gives one of them to another kind is told so.
  core::Fields& alternative(const std::string& section, const std::string& selector,
                            const std::string& kind);

  /// Every key and section of a config that nobody asked for, with the nearest one that is legal.
  std::vector<ConfigProblem> unknown_in(const ConfigNode& root) const;

 private:
  struct Alternative {
    std::string section;
    std::string condition;  // data.kind = "text"
    std::unique_ptr<DescribingFields> fields;
  };

  void check_table(const ConfigNode::Table& table, const std::string& path,
                   std::vector<ConfigProblem>& problems) const;
  ConfigProblem unknown(const ConfigNode& node, const std::string& path) const;
  std::string condition_of(const std::string& path) const;
  std::string suggestion_for(const std::string& path) const;

  std::set<std::string> keys_;
  std::set<std::string> sections_;
  std::vector<Alternative> alternatives_;
};

}  // namespace weft::experiments
