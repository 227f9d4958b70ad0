#include "core/fields.h"

#include <algorithm>

#include "core/error.h"

namespace weft::core {

void Fields::remember(std::string_view key, std::vector<std::string> values) {
  if (!is_muted()) chosen_.insert_or_assign(std::string(key), std::move(values));
}

void Fields::flag(std::string_view key, bool& value, std::string_view help) {
  visit({key, &value, help});
  remember(key, {value ? "true" : "false"});
}

void Fields::choice(std::string_view key, std::string& value, std::string_view help,
                    const std::vector<std::string_view>& options) {
  visit({key, &value, help, {}, options});
  remember(key, {value});
}

void Fields::choices(std::string_view key, std::vector<std::string>& value, std::string_view help,
                     const std::vector<std::string_view>& options) {
  visit({key, &value, help, {}, options});
  remember(key, value);
}

void Fields::when(std::string_view key, std::initializer_list<std::string_view> values,
                  const std::function<void()>& body) {
  const auto chosen = chosen_.find(key);
  require(chosen != chosen_.end() || is_muted(), "settings: a condition on ", key,
          ", which is no choice or flag that was visited before");
  const bool holds = chosen != chosen_.end() &&
                     std::ranges::find_first_of(chosen->second, values) != chosen->second.end();
  under({std::string(key), {values.begin(), values.end()}, ""}, holds, body);
}

void DefaultFields::problem(std::string_view key, const std::string& message) {
  throw Error(message_of("settings: ", key, ": ", message));
}

}  // namespace weft::core
