#pragma once

#include <cstring>
#include <vector>

#include "core/ranks/collectives.h"
#include "experiments/evaluate/tally.h"

namespace weft::experiments {

/// The rows of evaluation batches, cut into shards that several ranks share out.
class SharedRows {
 public:
  explicit SharedRows(const EvaluationOptions& options);

  /// This rank's shards of a batch, in order.
  std::vector<data::Batch> own(const data::Batch& batch) const;
  Index own_shards() const { return own_.size(); }

  /// What every rank found for its rows, in the order of rows.
  template <class Thing>
  std::vector<Thing> join(std::vector<Thing> found) const {
    static_assert(std::is_trivially_copyable_v<Thing>);
    if (ranks_.alone()) return found;
    const std::string bytes(reinterpret_cast<const char*>(found.data()),
                            found.size() * sizeof(Thing));
    found.clear();
    for (const std::string& theirs : core::gather(ranks_, bytes)) {
      const std::size_t before = found.size();
      found.resize(before + theirs.size() / sizeof(Thing));
      if (!theirs.empty()) std::memcpy(&found[before], theirs.data(), theirs.size());
    }
    return found;
  }

 private:
  core::Ranks& ranks_;
  Index shards_;
  core::Stretch own_;
};

}  // namespace weft::experiments
