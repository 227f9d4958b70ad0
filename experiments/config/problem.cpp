#include "experiments/config/problem.h"

#include <algorithm>

#include "experiments/config/text.h"

namespace weft::experiments {

std::string ConfigProblem::text() const {
  std::string line = origin.text() + ": " + message;
  if (!suggestion.empty()) line += "; did you mean " + suggestion + "?";
  return line;
}

ConfigProblem wrong_type(const ConfigNode& node, const std::string& path,
                         const std::string& expected) {
  const bool is_scalar = !node.table() && !node.list();
  const std::string message = is_scalar ? path + " = " + quote(node) + " must be " + expected
                                        : path + " must be " + expected + ", not " + quote(node);
  return {node.origin, path, message};
}

void raise_if_any(std::vector<ConfigProblem> problems) {
  if (problems.empty()) return;
  std::ranges::stable_sort(problems, {}, &ConfigProblem::origin);
  const std::size_t count = problems.size();
  std::string message = std::to_string(count) + (count == 1 ? " problem" : " problems") +
                        " in the configuration, nothing was started";
  constexpr std::size_t most_shown = 100;
  for (std::size_t i = 0; i < std::min(count, most_shown); ++i)
    message += "\n  " + problems[i].text();
  if (count > most_shown) message += "\n  ... and " + std::to_string(count - most_shown) + " more";
  throw ConfigError(message, std::move(problems));
}

}  // namespace weft::experiments
