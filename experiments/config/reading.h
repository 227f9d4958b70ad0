#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "experiments/config/keys.h"
#include "experiments/config/node.h"
#include "experiments/config/problem.h"
#include "experiments/config/resolved.h"

namespace weft::experiments {

/// What the visitors of all sections collect while a config is read.
struct ConfigReading {
  /// Whether keys may have the names that an earlier weft gave them, as in a config it saved.
  bool takes_old_names = false;

  ConfigKeys keys;
  ResolvedConfig resolved;
  std::vector<ConfigProblem> problems;
  std::set<std::string> refused;  // keys whose value could not be taken

  /// Reports a value that cannot be taken, once.
  void refuse(const ConfigProblem& problem);
  /// Reports what is wrong with a value that was taken; nothing is reported of a default
  /// that replaces a refused value.
  void complain(const ConfigProblem& problem);
};

/// The visitor that fills the settings of one section from a config. A value that cannot be taken
/// is reported and leaves the default; nothing is thrown. Settings under a condition that fails are
/// visited muted: only their keys are noted, so that a config that gives one learns what it needs.
class ReadingFields final : public core::Fields {
 public:
  /// `node` is the section's table, or null when the config does not have it. Both must outlive
  /// the visitor.
  ReadingFields(ConfigReading& reading, std::string path, const ConfigNode* node);

  void renamed(std::string_view old_key, std::string_view key) override;
  void added(std::string_view key, std::string_view unused) override {
    if (!is_muted()) added_.insert_or_assign(std::string(key), unused);
  }
  std::vector<std::unique_ptr<core::Fields>> tables(std::string_view key,
                                                    std::string_view help) override;
  void problem(std::string_view key, const std::string& message) override;

 private:
  void visit(const core::Field& field) override;
  void under(const core::FieldCondition& condition, bool holds,
             const std::function<void()>& body) override;
  bool is_muted() const override { return !unmet_.empty(); }

  const ConfigNode* find(std::string_view key) const;
  /// Takes one value with `read`, a function (node, path) -> optional value that reports.
  template <class Value, class Read>
  void take(const core::Field& field, Value& value, const Read& read);
  template <class Value, class Read>
  void take_list(const core::Field& field, std::vector<Value>& values, const Read& read);
  /// One of the field's options; reports what is none of them.
  std::optional<std::string> read_option(const core::Field& field, const ConfigNode& node,
                                         const std::string& path);

  ConfigReading& reading_;
  std::string path_;
  const ConfigNode* node_;
  Index met_ = 0;                                              // the conditions around that hold
  std::vector<ConfigKeys::Unmet> unmet_;                       // the conditions around that fail
  std::map<std::string, std::string, std::less<>> old_names_;  // by the new one
  std::map<std::string, std::string, std::less<>> added_;      // keys younger than the hash
};

}  // namespace weft::experiments
