#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/fields.h"
#include "experiments/config/node.h"

namespace weft::experiments {

/// Values as TOML writes them; reading the text again gives the same value, bit for bit.
std::string toml_text(bool value);
std::string toml_text(Index value);
std::string toml_text(double value);
std::string toml_text(std::string_view value);
inline std::string toml_text(const std::string& value) {
  return toml_text(std::string_view(value));
}
std::string toml_text(const char*) = delete;  // would be taken for a bool

template <class Value>
std::string toml_text(const std::vector<Value>& values) {
  std::string text = "[";
  for (const Value& value : values) text += (text.size() > 1 ? ", " : "") + toml_text(value);
  return text + "]";
}

/// The value of a setting as TOML; of a list of choices that holds one, that one alone.
template <class Value>
std::string setting_text(const core::Field& field, const Value& value) {
  if constexpr (std::is_same_v<Value, std::vector<std::string>>)
    if (!field.options.empty() && value.size() == 1) return toml_text(value.front());
  return toml_text(value);
}

/// A value as a message shows it: TOML, cut when long; "a table", "a list".
std::string quote(std::string_view text);
std::string quote(const ConfigNode& node);

}  // namespace weft::experiments
