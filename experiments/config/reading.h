#pragma once

#include <memory>
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

/// What the visitors of all sections gather while a config is read.
struct ConfigReading {
  ConfigKeys keys;
  ResolvedConfig resolved;
  std::vector<ConfigProblem> problems;
  std::set<std::string> refused;  // keys whose value could not be taken

  /// Reports a value that cannot be taken, once.
  void refuse(const ConfigProblem& problem);
  /// Reports what is wrong with a value that was taken; of a default that stands in for a refused
  /// value nothing is said.
  void complain(const ConfigProblem& problem);
};

/// The visitor that fills the settings of one section from a config. A value that cannot be taken
/// is reported and leaves the default; nothing is thrown.
class ReadingFields final : public core::Fields {
 public:
  /// `node` is the section's table, or null when the config does not have it. Both must outlive
  /// the visitor.
  ReadingFields(ConfigReading& reading, std::string path, const ConfigNode* node);

  void integer(std::string_view key, Index& value, std::string_view help,
               core::Range range = {}) override;
  void number(std::string_view key, double& value, std::string_view help,
              core::Range range = {}) override;
  void flag(std::string_view key, bool& value, std::string_view help) override;
  void text(std::string_view key, std::string& value, std::string_view help) override;
  void choice(std::string_view key, std::string& value, std::string_view help,
              const std::vector<std::string_view>& options) override;
  void integers(std::string_view key, std::vector<Index>& value, std::string_view help,
                core::Range range = {}) override;
  void numbers(std::string_view key, std::vector<double>& value, std::string_view help,
               core::Range range = {}) override;
  void texts(std::string_view key, std::vector<std::string>& value, std::string_view help) override;
  std::vector<std::unique_ptr<core::Fields>> tables(std::string_view key,
                                                    std::string_view help) override;
  void problem(std::string_view key, const std::string& message) override;

 private:
  const ConfigNode* find(std::string_view key) const;

  /// Takes one value with `read`, a function (node, path) -> optional value that reports.
  template <class Value, class Read>
  void take(std::string_view key, Value& value, const Read& read);
  template <class Value, class Read>
  void take_list(std::string_view key, std::vector<Value>& values, const Read& read);

  ConfigReading& reading_;
  std::string path_;
  const ConfigNode* node_;
};

}  // namespace weft::experiments
