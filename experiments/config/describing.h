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
};

/// A visitor that changes nothing and collects what a component can be told.
class DescribingFields final : public core::Fields {
 public:
  void integer(std::string_view key, core::Index& value, std::string_view help,
               core::Range range = {}) override;
  void number(std::string_view key, double& value, std::string_view help,
              core::Range range = {}) override;
  void flag(std::string_view key, bool& value, std::string_view help) override;
  void text(std::string_view key, std::string& value, std::string_view help) override;
  void choice(std::string_view key, std::string& value, std::string_view help,
              const std::vector<std::string_view>& options) override;
  void integers(std::string_view key, std::vector<core::Index>& value, std::string_view help,
                core::Range range = {}) override;
  void numbers(std::string_view key, std::vector<double>& value, std::string_view help,
               core::Range range = {}) override;
  void texts(std::string_view key, std::vector<std::string>& value, std::string_view help) override;
  /// One visitor, so that the settings of the tables are described too.
  std::vector<std::unique_ptr<core::Fields>> tables(std::string_view key,
                                                    std::string_view help) override;
  void problem(std::string_view, const std::string&) override {}

  const std::vector<FieldDescription>& descriptions() const { return *descriptions_; }

 private:
  void add(std::string_view key, std::string type, std::string fallback, std::string_view help);

  std::string prefix_;
  std::shared_ptr<std::vector<FieldDescription>> descriptions_ =
      std::make_shared<std::vector<FieldDescription>>();
};

/// What a component's settings, given with their defaults, can be told.
template <class Settings>
std::vector<FieldDescription> describe(Settings settings) {
  DescribingFields fields;
  settings.fields(fields);
  return fields.descriptions();
}

/// One aligned line for each setting: key, type, default, help. Keys begin with "section." when a
/// section is given.
std::string print_descriptions(const std::vector<FieldDescription>& descriptions,
                               std::string_view section = "");

}  // namespace weft::experiments
