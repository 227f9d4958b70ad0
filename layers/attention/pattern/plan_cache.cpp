#include "layers/attention/pattern/plan_cache.h"

namespace weft::layers {

std::size_t PlanCache::weight_of(const Plans& plans) {
  std::size_t weight = 0;
  for (const auto& plan : plans) weight += plan->ranges.size() + plan->label_runs.size();
  return weight;
}

std::vector<PlanCache::Plans> PlanCache::of_all(
    const Sequences& sequences, Index heads, std::size_t parts,
    const std::function<Plans(const RowLayout&)>& make) {
  std::vector<Plans> all(parts);
  for (const Plans& own : plans_.of_all(sequences, make)) {
    const std::size_t each = own.size() / parts;
    for (std::size_t part = 0; part < parts; ++part)
      for (Index head = 0; head < heads; ++head)
        all[part].push_back(own[part * each + std::size_t(head) % each]);
  }
  return all;
}

}  // namespace weft::layers
