#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/node.h"
#include "experiments/config/problem.h"

namespace weft::experiments {

/// Parses TOML. What cannot be in a config (bad syntax, dates, odd keys, absurd depth) goes to
/// `problems` with its line in `file`; nothing is returned when the text is no TOML at all.
std::optional<ConfigNode> parse_toml(std::string_view text, const std::string& file,
                                     std::vector<ConfigProblem>& problems);

/// The value of a `section.key=value` argument: TOML, or plain text when it is no TOML, so that
/// model.attention=local needs no quotes. Only what begins like a list, a table or a quoted text
/// must be one. Returns nothing after reporting why.
std::optional<ConfigNode> parse_argument(std::string_view key, const std::string& value,
                                         const ConfigOrigin& origin,
                                         std::vector<ConfigProblem>& problems);

}  // namespace weft::experiments
