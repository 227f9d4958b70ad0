#pragma once

#include "core/arrays/tensor.h"
#include "layers/attention/pattern/relative_tile.h"

namespace weft::layers {

/// The relative terms of a block of queries whose plan labels intervals of keys. Every query is
/// scored once against each label that the block has, and a pair takes the score of its label:
///   Z[r, l] = scale q_r . keys[l] + bias[l],   S[r, c] += Z[r, label of c].
class LabelBlock {
 public:
  LabelBlock(const PatternLane& lane, const PatternPlan::Block& block);

  /// Whether there is anything to add.
  bool present() const { return count_ > 0; }
  /// Makes Z.  queries: [rows of the block, D]
  void score(const core::ConstMatrix& queries);
  /// scores: [rows, columns] of the panel
  void add_scores(const PatternPlan::Panel& panel, const core::Matrix& scores) const;
  /// dZ[r, l] += the sum of dS[r, c] over the columns of label l.
  void pull_back_scores(const PatternPlan::Panel& panel, const core::ConstMatrix& ds);
  /// dqueries += scale dZ keys,  the tables' sums += scale dZ^T queries and the columns' sums of
  /// dZ.
  void pull_back(const core::ConstMatrix& queries, const core::Matrix& dqueries,
                 const RelativeSums& sums);

  /// Multiply-adds x 2 of one product of the block with the table of keys.
  Index product_flops() const { return 2 * block_.queries * count_ * lane_.problem.head_width; }

 private:
  core::ConstMatrix keys() const;
  /// body(row of the panel, first column of the panel, columns, first label, step) for each run.
  template <class Body>
  void for_each_run(const PatternPlan::Panel& panel, const Body& body) const;

  const PatternLane& lane_;
  const PatternPlan::Block& block_;
  Index first_ = 0, count_ = 0;      ///< the block's labels
  core::Tensor scores_, gradients_;  ///< Z and dZ, [rows of the block, labels]
};

}  // namespace weft::layers
