#include "layers/attention/chosen/row_cache.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/counters.h"
#include "core/simd/kernels.h"

namespace weft::layers {

void attend_rows(const Real* q, Index width, Real scale, const Real* sink,
                 std::span<const KeyValue> rows, Real* out) {
  core::counters().scored_pairs.fetch_add(Index(rows.size()), std::memory_order_relaxed);
  std::fill_n(out, width, Real(0));
  Real top = sink ? *sink : -std::numeric_limits<Real>::infinity(), total = 0;
  std::vector<Real> weights;
  for (const KeyValue& row : rows) {
    weights.push_back(scale * core::simd().dot(q, row.key, width));
    top = std::max(top, weights.back());
  }
  if (rows.empty()) return;
  total = core::simd().exp_sum(weights.data(), 1, top, Index(weights.size()));
  if (sink) total += std::exp(*sink - top);
  for (std::size_t i = 0; i < rows.size(); ++i)
    core::simd().axpy(weights[i] / total, rows[i].value, out, width);
}

void RowRing::append(std::span<const Real> row) {
  if (count_ < rows_) data_.resize(data_.size() + row.size());
  std::ranges::copy(row, data_.begin() + count_ % rows_ * columns_);
  ++count_;
}

}  // namespace weft::layers
