#include "layers/attention/pattern/relative_tile.h"

#include "core/simd/kernels.h"

// Letters: tile rows r (queries) and columns c (keys); t a diagonal, all pairs of one offset; l(t)
// its label, the row of a table that serves this offset. Consecutive keys lie `step` apart as the
// queries do, so pair (r, c) lies on diagonal t = c - r + rows - 1, counted from the first that is
// read. Moving row r right by its gap, rows - 1 - r - first_diagonal, brings a diagonal into one
// column: skew(X)[r, gap + c] = X[r, c].
namespace weft::layers {
namespace {

constexpr Index most_diagonals = PatternPlan::most_rows + PatternPlan::key_tile;

RelativeTable table_of(const Var& table, Index head_width) {
  if (table.value().size() == 0) return {};
  const Index stride = table.shape().back();
  return {table.value().data(), stride, stride == head_width ? 0 : head_width};
}

}  // namespace

RelativeTerms relative_terms(const RelativePositions::Terms& terms, ConstHeads queries, Index heads,
                             Index head_width) {
  RelativeTerms view;
  view.queries = queries;
  view.keys = table_of(terms.keys, head_width);
  view.values = table_of(terms.values, head_width);
  if (view.keys.data) view.labels = terms.keys.shape()[0];
  if (terms.bias.value().size() > 0) {
    view.bias = terms.bias.value().data();
    view.labels = terms.bias.value().size() / heads;
  }
  view.past = terms.past;
  view.label_of = terms.labels;
  return view;
}

RelativeTile::RelativeTile(const PatternLane& lane)
    : lane_(lane), terms_(lane.problem.relative.get()) {
  if (terms_ && terms_->by_interval()) terms_ = nullptr;
  if (!terms_) return;
  const Index width = lane.problem.head_width;
  table_rows_ = core::Tensor({most_diagonals, width});
  product_ = core::Tensor({most_diagonals, std::max(PatternPlan::most_rows, width)});
  skewed_ = core::Tensor({PatternPlan::most_rows, most_diagonals});
}

void RelativeTile::place(const PatternPlan::Block& block, const PatternPlan::Panel& panel) {
  block_ = &block;
  panel_ = &panel;
  rows_ = panel.rows;
  columns_ = panel.columns;
  first_query_ = block.first_query + panel.first_row * block.step;
  labels_.clear();
  if (panel.list >= 0) return;
  // Offset of diagonal 0: the first key seen from the last query.
  const Index first = panel.first_key - first_query_ - (rows_ - 1) * block.step;
  const Interval& read = lane_.plan.offsets;
  const Index all = rows_ + columns_ - 1;
  first_diagonal_ = read.begin > first ? (read.begin - first + block.step - 1) / block.step : 0;
  // A tile of which nothing is read still has a label, so that products have a shape.
  const Index last =
      std::max(first_diagonal_, std::min(all - 1, (read.end - 1 - first) / block.step));
  for (Index t = first_diagonal_; t <= last; ++t)
    labels_.push_back(terms_->label(first + t * block.step - lane_.problem.shift()));
  // A label serves consecutive offsets: equal ends mean one label for the whole tile, which is then
  // treated as a single diagonal.
  if (labels_.front() == labels_.back()) labels_.resize(1);
  diagonals_ = Index(labels_.size());
}

const Real* RelativeTile::row(const RelativeTable& table, std::int32_t label) const {
  return table.data + label * table.stride + lane_.head * table.head_step;
}

/// T[t] = table[l(t)].  -> [diagonals, D]
core::ConstMatrix RelativeTile::rows_of(const RelativeTable& table) {
  const Index width = lane_.problem.head_width;
  Real* to = table_rows_.write().data();
  for (Index t = 0; t < diagonals_; ++t)
    std::copy_n(row(table, labels_[std::size_t(t)]), width, to + t * width);
  return {to, diagonals_, width, width};
}

Interval RelativeTile::columns_of(Index r) const {
  const Index gap = rows_ - 1 - r - first_diagonal_;
  const Index begin = std::clamp<Index>(-gap, 0, columns_);
  return {begin, std::clamp<Index>(diagonals_ - gap, begin, columns_)};
}

/// Y[r, gap + c] = X[r, c], zero elsewhere; with a single diagonal Y[r] = sum_c X[r, c].
core::ConstMatrix RelativeTile::skewed(const core::ConstMatrix& x) {
  Real* to = skewed_.write().data();
  for (Index r = 0; r < rows_; ++r) {
    const Real* from = x.row(r);
    if (diagonals_ == 1) {
      to[r] = core::simd().sum(from, columns_);
      continue;
    }
    Real* out = to + r * diagonals_;
    const Index gap = rows_ - 1 - r - first_diagonal_;
    const Interval own = columns_of(r);
    std::fill_n(out, diagonals_, Real(0));
    if (own.begin < own.end) std::copy(from + own.begin, from + own.end, out + gap + own.begin);
  }
  return {to, rows_, diagonals_, diagonals_};
}

/// out[r, c] += Y[r, gap + c], the transpose of `skewed`.
void RelativeTile::unskew_onto(const core::ConstMatrix& x, const core::Matrix& out) const {
  for (Index r = 0; r < rows_; ++r) {
    Real* to = out.row(r);
    const Real* from = x.row(r);
    if (diagonals_ == 1) {
      for (Index c = 0; c < columns_; ++c) to[c] += from[0];
      continue;
    }
    const Index gap = rows_ - 1 - r - first_diagonal_;
    const Interval own = columns_of(r);
    if (own.begin < own.end)
      core::simd().add(to + own.begin, from + gap + own.begin, to + own.begin, own.end - own.begin);
  }
}

/// Scattered keys have no diagonals: body(r, c, label) for every pair of the tile.
template <class Body>
void RelativeTile::for_each_pair(const Body& body) const {
  for (Index r = 0; r < rows_; ++r)
    for (Index c = 0; c < columns_; ++c) {
      const Index key = lane_.plan.gathered[std::size_t(panel_->list + c)];
      const Index query = first_query_ + r * block_->step;
      body(r, c, terms_->label(key - query - lane_.problem.shift()));
    }
}

/// S[r, c] += scale q_r . K[l] + bias[l]: with the diagonals' rows T of K, unskew(scale Q T^T).
void RelativeTile::add_scores(const core::ConstMatrix& queries, const core::Matrix& scores) {
  const Real* bias = terms_->bias ? terms_->bias + lane_.head * terms_->labels : nullptr;
  const Real scale = lane_.problem.scale;
  if (panel_->list >= 0) {
    for_each_pair([&](Index r, Index c, std::int32_t label) {
      Real& s = scores.data[r * scores.stride + c];
      if (terms_->keys.data)
        s += scale * core::simd().dot(queries.row(r), row(terms_->keys, label), queries.cols);
      if (bias) s += bias[label];
    });
    return;
  }
  if (terms_->keys.data) {
    const core::Matrix product{skewed_.write().data(), rows_, diagonals_, diagonals_};
    core::gemm(scale, queries, core::transposed(rows_of(terms_->keys)), 0, product);
    unskew_onto(product, scores);
  }
  if (!bias) return;
  // The bias is the same in every row: a matrix whose rows are all at the same place.
  Real* gains = table_rows_.write().data();
  for (Index t = 0; t < diagonals_; ++t) gains[t] = bias[labels_[std::size_t(t)]];
  unskew_onto({gains, rows_, diagonals_, 0}, scores);
}

/// O[r] += sum_c P[r, c] V[l]: skew(P) T, T the diagonals' rows of V.
void RelativeTile::add_values(const core::ConstMatrix& weights, const core::Matrix& out) {
  if (!terms_->values.data) return;
  if (panel_->list < 0) {
    const core::ConstMatrix values = rows_of(terms_->values);
    core::gemm(1, skewed(weights), values, 1, out);
    return;
  }
  for_each_pair([&](Index r, Index c, std::int32_t label) {
    core::simd().axpy(weights.data[r * weights.stride + c], row(terms_->values, label), out.row(r),
                      out.cols);
  });
}

/// dP[r, c] += dO[r] . V[l]: unskew(dO T^T).
void RelativeTile::add_weight_gradients(const core::ConstMatrix& dout,
                                        const core::Matrix& dweights) {
  if (!terms_->values.data) return;
  if (panel_->list < 0) {
    const core::Matrix product{skewed_.write().data(), rows_, diagonals_, diagonals_};
    core::gemm(1, dout, core::transposed(rows_of(terms_->values)), 0, product);
    unskew_onto(product, dweights);
    return;
  }
  for_each_pair([&](Index r, Index c, std::int32_t label) {
    dweights.data[r * dweights.stride + c] +=
        core::simd().dot(dout.row(r), row(terms_->values, label), dout.cols);
  });
}

/// sums[l(t)] += factor sum_r A[r, t] B[r]; labels repeat, so the product comes first.
void RelativeTile::add_by_label(Real factor, const core::ConstMatrix& a, const core::ConstMatrix& b,
                                Real* sums) {
  Real* product = product_.write().data();
  core::gemm(factor, core::transposed(a), b, 0, {product, diagonals_, b.cols, b.cols});
  for (Index t = 0; t < diagonals_; ++t)
    core::simd().axpy(1, product + t * b.cols, sums + labels_[std::size_t(t)] * b.cols, b.cols);
}

/// dQ[r] += scale sum_c dS[r, c] K[l],  dK[l] += scale sum dS[r, c] q_r,  dbias[l] += sum dS[r, c],
/// the sums over all pairs of label l.
void RelativeTile::pull_back_scores(const core::ConstMatrix& ds, const core::ConstMatrix& queries,
                                    const core::Matrix& dqueries, const RelativeSums& sums) {
  const Real scale = lane_.problem.scale;
  const Index width = queries.cols;
  if (panel_->list >= 0) {
    for_each_pair([&](Index r, Index c, std::int32_t label) {
      const Real d = ds.data[r * ds.stride + c];
      if (terms_->keys.data) {
        core::simd().axpy(scale * d, row(terms_->keys, label), dqueries.row(r), width);
        core::simd().axpy(scale * d, queries.row(r), sums.keys + label * width, width);
      }
      if (terms_->bias) sums.bias[label] += d;
    });
    return;
  }
  const core::ConstMatrix by_diagonal = skewed(ds);
  if (terms_->keys.data) {
    core::gemm(scale, by_diagonal, rows_of(terms_->keys), 1, dqueries);
    add_by_label(scale, by_diagonal, queries, sums.keys);
  }
  if (terms_->bias)
    for (Index r = 0; r < rows_; ++r)
      for (Index t = 0; t < diagonals_; ++t)
        sums.bias[labels_[std::size_t(t)]] += by_diagonal.data[r * diagonals_ + t];
}

/// dV[l] += sum P[r, c] dO[r] over all pairs of label l.
void RelativeTile::pull_back_values(const core::ConstMatrix& weights, const core::ConstMatrix& dout,
                                    const RelativeSums& sums) {
  if (!terms_->values.data) return;
  if (panel_->list < 0) {
    add_by_label(1, skewed(weights), dout, sums.values);
    return;
  }
  for_each_pair([&](Index r, Index c, std::int32_t label) {
    core::simd().axpy(weights.data[r * weights.stride + c], dout.row(r),
                      sums.values + label * dout.cols, dout.cols);
  });
}

Index RelativeTile::product_flops() const {
  return panel_->list >= 0 ? 0 : 2 * rows_ * diagonals_ * lane_.problem.head_width;
}

}  // namespace weft::layers
