#pragma once

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "layers/attention/contract/rows.h"
#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// Plans by how the rows of a sequence lie. Layers with the same rules share one; it forgets what
/// was used longest ago once it holds much. One thread at a time.
class PlanCache {
 public:
  using Plans = std::vector<std::shared_ptr<const PatternPlan>>;

  /// Made by `make` where it is not known. `causal` is a part of the key.
  Plans of(const RowLayout& layout, bool causal, const std::function<Plans()>& make);

  /// What `make` returns for each sequence of a call, one plan for all heads or one for each,
  /// `parts` times: for each part the plans as a problem takes them.
  std::vector<Plans> of_all(const Sequences& sequences, Index heads, std::size_t parts,
                            const std::function<Plans(const RowLayout&)>& make);

  void clear();

 private:
  struct Entry {
    RowLayout layout;
    bool causal;
    Plans plans;
    std::size_t weight;
  };
  std::list<Entry> entries_;  ///< used last first
  std::size_t weight_ = 0;
};

}  // namespace weft::layers
