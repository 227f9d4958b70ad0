#include "experiments/sweep/rules/equal_rule.h"

#include <algorithm>

#include "experiments/console/nearest_word.h"

namespace weft::experiments {

EqualRule read_equal_rule(const ConfigNode& what, const ConfigNode* within,
                          std::vector<ConfigProblem>& problems) {
  const std::vector<std::string> known = {"parameters", "arithmetic", "time"};
  EqualRule rule;
  const auto* text = std::get_if<std::string>(&what.value);
  if (text && std::ranges::find(known, *text) != known.end())
    rule.what = *text;
  else
    problems.push_back({what.origin, "equal",
                        "equal must be \"parameters\", \"arithmetic\" or \"time\"",
                        text ? nearest(*text, known) : ""});
  if (!within) return rule;
  const auto* number = std::get_if<double>(&within->value);
  if (number && *number >= 0 && *number < 1)
    rule.within = *number;
  else
    problems.push_back(wrong_type(*within, "equal_within", "a share such as 0.05"));
  return rule;
}

}  // namespace weft::experiments
