#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"

namespace weft::experiments {

/// One setting, as a key reference shows it.
struct FieldDescription {
  std::string key;       // "window"; inside an array of tables "groups[].heads"
  std::string type;      // "integer >= 1", "layer | rms | batch", "text", ...
  std::string fallback;  // the default as TOML; empty for an array of tables
  std::string help;
  std::vector<core::FieldCondition> conditions;  // all hold where the setting exists
};

/// A visitor that changes nothing and collects every setting that a component can have, whatever
/// the values of others.
class DescribingFields final : public core::Fields {
 public:
  /// One visitor, so that the settings of the tables are described too.
  std::vector<std::unique_ptr<core::Fields>> tables(std::string_view key,
                                                    std::string_view help) override;
  void problem(std::string_view, const std::string&) override {}

  const std::vector<FieldDescription>& descriptions() const { return *descriptions_; }

 private:
  void visit(const core::Field& field) override;
  void under(const core::FieldCondition& condition, bool holds,
             const std::function<void()>& body) override;

  std::string prefix_;
  std::vector<core::FieldCondition> conditions_;
  std::shared_ptr<std::vector<FieldDescription>> descriptions_ =
      std::make_shared<std::vector<FieldDescription>>();
};

/// Every setting of a component, given with its defaults.
template <class Settings>
std::vector<FieldDescription> describe(Settings settings) {
  DescribingFields fields;
  settings.fields(fields);
  return fields.descriptions();
}

/// A condition as a config would say it: form = "band" or "block".
std::string condition_text(const core::FieldCondition& condition);
/// Several that hold together: kind = "local" and form = "band".
std::string condition_text(const std::vector<core::FieldCondition>& conditions);

/// One aligned line for each setting: key, type, default, help; first what always exists, then each
/// condition with what exists under it. Keys begin with "section." when a section is given.
std::string print_descriptions(const std::vector<FieldDescription>& descriptions,
                               std::string_view section = "");

}  // namespace weft::experiments
