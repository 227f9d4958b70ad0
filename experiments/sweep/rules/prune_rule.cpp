#include "experiments/sweep/rules/prune_rule.h"

#include "experiments/console/nearest_word.h"

namespace weft::experiments {

PruneRule read_prune_section(const ConfigNode& node, std::vector<ConfigProblem>& problems) {
  PruneRule rule;
  if (!node.table()) {
    problems.push_back(wrong_type(node, "prune", "a table with after and behind"));
    return rule;
  }
  for (const auto& [key, value] : *node.table()) {
    const auto* whole = std::get_if<Index>(&value.value);
    const auto* number = std::get_if<double>(&value.value);
    if (key == "after") {
      if (whole && *whole >= 1)
        rule.after = *whole;
      else
        problems.push_back(wrong_type(value, "prune.after", "how many seeds, at least 1"));
    } else if (key == "behind") {
      rule.behind = number ? *number : whole ? double(*whole) : -1;
      if (!(rule.behind > 0))
        problems.push_back(
            wrong_type(value, "prune.behind", "a share of the lowest loss, such as 0.1"));
    } else {
      problems.push_back({value.origin, "prune." + key, "unknown key prune." + key,
                          nearest(key, {"after", "behind"})});
    }
  }
  return rule;
}

}  // namespace weft::experiments
