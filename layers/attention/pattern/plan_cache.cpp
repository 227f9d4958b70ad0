#include "layers/attention/pattern/plan_cache.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {
namespace {

/// Ranges and label runs of all plans that are kept, some tens of megabytes.
constexpr std::size_t most_weight = std::size_t(1) << 21;

std::size_t weight_of(const PlanCache::Plans& plans) {
  std::size_t weight = 0;
  for (const auto& plan : plans) weight += plan->ranges.size() + plan->label_runs.size();
  return weight;
}

}  // namespace

PlanCache::Plans PlanCache::of(const RowLayout& layout, bool causal,
                               const std::function<Plans()>& make) {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.causal == causal && entry.layout == layout;
  });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().plans;
  }
  const Plans plans = make();
  entries_.push_front({layout, causal, plans, weight_of(plans)});
  weight_ += entries_.front().weight;
  while (weight_ > most_weight && entries_.size() > 1) {
    weight_ -= entries_.back().weight;
    entries_.pop_back();
  }
  return plans;
}

void PlanCache::clear() {
  entries_.clear();
  weight_ = 0;
}

std::vector<PlanCache::Plans> PlanCache::of_all(
    const Sequences& sequences, Index heads, std::size_t parts,
    const std::function<Plans(const RowLayout&)>& make) {
  core::require(sequences.rows && Index(sequences.rows->size()) == sequences.batch,
                "attention: the rows of ", sequences.batch, " sequences are not laid out");
  std::vector<Plans> all(parts);
  for (const RowLayout& layout : *sequences.rows) {
    core::require(layout.rows <= sequences.queries && sequences.queries == sequences.keys,
                  "attention: ", layout.rows, " rows in sequences of ", sequences.queries);
    const Plans own = of(layout, sequences.causal, [&] { return make(layout); });
    const std::size_t each = own.size() / parts;
    for (std::size_t part = 0; part < parts; ++part)
      for (Index head = 0; head < heads; ++head)
        all[part].push_back(own[part * each + std::size_t(head) % each]);
  }
  return all;
}

}  // namespace weft::layers
