#include "experiments/evaluate/shared_rows.h"

#include "core/ranks/tree_sum.h"

namespace weft::experiments {

SharedRows::SharedRows(const EvaluationOptions& options)
    : ranks_(options.ranks),
      shards_(options.shards),
      own_(core::shards_of(options.ranks.rank(), options.ranks.count(), options.shards)) {}

std::vector<data::Batch> SharedRows::own(const data::Batch& batch) const {
  const Index rows = batch.inputs.shape()[0];
  std::vector<data::Batch> parts;
  for (Index s = own_.begin; s < own_.end; ++s)
    parts.push_back(data::rows_of(batch, {s * rows / shards_, (s + 1) * rows / shards_}));
  return parts;
}

}  // namespace weft::experiments
