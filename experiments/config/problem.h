#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/config/node.h"

namespace weft::experiments {

/// Something wrong in a config, where it is and what was probably meant.
struct ConfigProblem {
  ConfigOrigin origin;
  std::string key;              // "model.heads"; empty when no key is to blame
  std::string message;          // "model.heads = 0 is below 1"
  std::string suggestion = {};  // "model.attention"

  /// "configs/a.toml:12: unknown key model.atention; did you mean model.attention?"
  std::string text() const;
};

/// A value that is not what its key takes: "model.tie = 3 must be true or false".
ConfigProblem wrong_type(const ConfigNode& node, const std::string& path,
                         const std::string& expected);

/// Every problem of a config, in one message.
class ConfigError : public core::Error {
 public:
  ConfigError(const std::string& message, std::vector<ConfigProblem> problems)
      : core::Error(message), problems_(std::move(problems)) {}
  const std::vector<ConfigProblem>& problems() const { return problems_; }

 private:
  std::vector<ConfigProblem> problems_;
};

/// Throws every problem at once (ConfigError), in the order of the files' lines; returns when there
/// is none.
void raise_if_any(std::vector<ConfigProblem> problems);

}  // namespace weft::experiments
