#pragma once

#include <memory>
#include <vector>

#include "layers/attention/contract/layout_cache.h"
#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// Plans by how the rows of a sequence lie.
class PlanCache {
 public:
  using Plans = std::vector<std::shared_ptr<const PatternPlan>>;

  /// What `make` returns for each sequence of a call, one plan for all heads or one for each,
  /// `parts` times: for each part the plans as a problem takes them.
  std::vector<Plans> of_all(const Sequences& sequences, Index heads, std::size_t parts,
                            const std::function<Plans(const RowLayout&)>& make);

  void clear() { plans_.clear(); }

 private:
  /// Ranges and label runs.
  static std::size_t weight_of(const Plans& plans);
  LayoutCache<Plans, weight_of> plans_;
};

}  // namespace weft::layers
