#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/ranks/chunk_cut.h"
#include "core/ranks/collectives.h"
#include "experiments/evaluate/tally.h"

namespace weft::experiments {

/// The rows of evaluation batches, cut into shards that several ranks share out, and where asked
/// for by columns into chunks.
class SharedRows {
 public:
  explicit SharedRows(const EvaluationOptions& options);

  /// This rank's shards of a batch, in order.
  std::vector<data::Batch> own(const data::Batch& batch) const;
  Index own_shards() const { return own_.size(); }

  const core::ChunkUnits& units() const { return units_; }
  /// This rank's units, where there are chunks.
  core::Stretch own_units() const { return own_; }
  /// The rows of a shard of a batch.
  core::Stretch rows_of(Index shard, Index rows) const {
    return {shard * rows / units_.shards, (shard + 1) * rows / units_.shards};
  }

  /// What every rank found for the tokens of its chunks, one unit after another, at their places.
  template <class Thing>
  std::vector<Thing> join_chunks(const std::vector<std::vector<Thing>>& of_units,
                                 const data::Batch& batch) const {
    std::vector<Thing> own;
    for (const auto& some : of_units) own.insert(own.end(), some.begin(), some.end());
    const std::vector<Thing> found = join(std::move(own));
    const Index rows = batch.inputs.shape()[0], length = batch.inputs.shape()[1];
    std::vector<Thing> all(found.size());
    auto next = found.begin();
    for (Index unit = 0; unit < units_.count(); ++unit) {
      const core::Stretch of_rows = rows_of(units_.shard_of(unit), rows);
      const core::Stretch columns = core::ChunkCut{length, units_.chunks}.of(units_.chunk_of(unit));
      for (Index r = of_rows.begin; r < of_rows.end; ++r, next += columns.size())
        std::copy_n(next, columns.size(), all.begin() + r * length + columns.begin);
    }
    return all;
  }

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
  core::ChunkUnits units_;
  core::Stretch own_;
};

}  // namespace weft::experiments
