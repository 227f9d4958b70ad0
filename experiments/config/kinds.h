#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/describing.h"

namespace weft::experiments {

/// The settings that each kind of a component has, chosen or not: so that a config which gives a
/// setting to the wrong kind is told which kind is the right one.
class ConfigKinds {
 public:
  /// The value of a selector such as "data.kind", as TOML; nothing when it is wrong.
  using Selected = std::function<std::optional<std::string>(const std::string& selector)>;

  /// What is known of a key that the chosen kind did not ask for.
  struct Verdict {
    enum { unknown, open, unused, conditional } is = unknown;
    std::string condition;  // data.kind = "text" or "bytes"
  };

  /// A visitor for the settings that `section` has when its key `selector` is `kind`.
  core::Fields& add(const std::string& section, const std::string& selector,
                    const std::string& kind);

  /// Whether another kind would use the key (conditional), this kind would beside other settings
  /// (unused), or it cannot be said since the kind is wrong (open).
  Verdict judge(const std::string& path, const Selected& selected) const;

  /// The full paths of all settings of all kinds.
  std::vector<std::string> paths() const;

 private:
  struct Kind {
    std::string toml;
    std::unique_ptr<DescribingFields> fields;

    bool has(std::string_view key) const;
  };
  struct Selector {
    std::string section;
    std::string path;
    std::vector<Kind> kinds;
  };

  std::vector<Selector> selectors_;
};

}  // namespace weft::experiments
