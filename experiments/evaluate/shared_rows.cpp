#include "experiments/evaluate/shared_rows.h"

#include "core/ranks/tree_sum.h"

namespace weft::experiments {

SharedRows::SharedRows(const EvaluationOptions& options)
    : ranks_(options.ranks),
      units_{options.shards, options.chunks},
      own_(core::shards_of(options.ranks.rank(), options.ranks.count(), units_.count())) {}

std::vector<data::Batch> SharedRows::own(const data::Batch& batch) const {
  const Index rows = batch.inputs.shape()[0];
  std::vector<data::Batch> parts;
  for (Index s = own_.begin; s < own_.end; ++s)
    parts.push_back(data::rows_of(batch, rows_of(s, rows)));
  return parts;
}

}  // namespace weft::experiments
