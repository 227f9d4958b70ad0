#include "layers/attention/drawn/attention.h"

#include <algorithm>

namespace weft::layers {

const PatternAttention& DrawnAttention::current() const {
  const std::span<const Real> table = drawn_.table().read();
  if (planned_ && std::ranges::equal(planned_table_, table)) return *planned_;
  std::vector<Pattern> patterns;
  for (Index head = 0; head < site_.heads; ++head)
    patterns.push_back(united(others_, drawn_.of_head(head)));
  planned_.emplace(site_, std::move(patterns), scores_, normaliser_);
  planned_table_.assign(table.begin(), table.end());
  return *planned_;
}

}  // namespace weft::layers
