#pragma once

#include "layers/attention/contract/relative.h"
#include "layers/attention/pattern/lane.h"

namespace weft::layers {

/// The gradients of relative tables that one task adds up: [labels, D], [labels, D], [labels].
struct RelativeSums {
  Real *keys = nullptr, *values = nullptr, *bias = nullptr;
};

/// The relative terms of one tile of scores, rows x columns, whose labels the offsets say. Along a
/// diagonal of the tile the offset is the same, so at most rows + columns - 1 rows of a table serve
/// it, fewer where the pattern reads none of some diagonals: one product scores the queries against
/// them, and each row takes its own stretch of the result. A panel of scattered keys is gone
/// through pair by pair.
class RelativeTile {
 public:
  explicit RelativeTile(const PatternLane& lane);

  /// Whether there is anything to add.
  bool present() const { return terms_ != nullptr; }
  void place(const PatternPlan::Block& block, const PatternPlan::Panel& panel);

  /// scores += scale queries keys[label]^T + bias[label].  queries: [rows, D]
  void add_scores(const core::ConstMatrix& queries, const core::Matrix& scores);
  /// out += weights values[label].  weights: [rows, columns], out: [rows, D]
  void add_values(const core::ConstMatrix& weights, const core::Matrix& out);
  /// dweights += dout values[label]^T
  void add_weight_gradients(const core::ConstMatrix& dout, const core::Matrix& dweights);
  /// dqueries += scale ds keys[label]; the tables' sums += ds^T queries and so on.
  void pull_back_scores(const core::ConstMatrix& ds, const core::ConstMatrix& queries,
                        const core::Matrix& dqueries, const RelativeSums& sums);
  void pull_back_values(const core::ConstMatrix& weights, const core::ConstMatrix& dout,
                        const RelativeSums& sums);

  /// Multiply-adds x 2 of one product of the tile with a table.
  Index product_flops() const;

 private:
  core::ConstMatrix rows_of(const RelativeTable& table);
  const Real* row(const RelativeTable& table, std::int32_t label) const;
  /// x with row r moved right so that equal offsets share a column: [rows, diagonals]
  core::ConstMatrix skewed(const core::ConstMatrix& x);
  /// The columns of row r that are on the diagonals.
  Interval columns_of(Index r) const;
  void unskew_onto(const core::ConstMatrix& x, const core::Matrix& out) const;
  /// sums[label] += a^T b over the tile's diagonals
  void add_by_label(Real factor, const core::ConstMatrix& a, const core::ConstMatrix& b,
                    Real* sums);
  template <class Body>
  void for_each_pair(const Body& body) const;

  const PatternLane& lane_;
  const RelativeTerms* terms_;
  core::Tensor table_rows_, skewed_, product_;
  Index rows_ = 0, columns_ = 0, diagonals_ = 0, first_query_ = 0;
  Index first_diagonal_ = 0;  ///< those before it are not read
  const PatternPlan::Block* block_ = nullptr;
  const PatternPlan::Panel* panel_ = nullptr;
  std::vector<std::int32_t> labels_;  ///< of each diagonal
};

}  // namespace weft::layers
