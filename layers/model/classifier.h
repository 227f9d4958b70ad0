#pragma once

#include "layers/model/model.h"
#include "layers/model/trunk.h"
#include "layers/output/class_head.h"
#include "layers/settings/recomputation.h"

namespace weft::layers {

/// A Transformer that says to which class a whole sequence belongs: the trunk, one vector of it for
/// each sequence, and a head. Padding is not read: logits do not depend on what it holds.
///   cls:   the vector of an extra token placed before the sequence
///   mean:  the mean over the sequence's real tokens
///   root:  the vector that represents the whole sequence, if the trunk has one
///   max+root:  half of that and half of the largest number of each column over the real tokens
class Classifier final : public Model {
 public:
  Classifier(const ModelSettings& settings, const AttentionPlans& plans, const ModelShape& shape,
             Recomputation recompute = {});

  Var loss(const Pass& pass, const Reading& reading, Real share) const override;
  TokenScores score(const Pass& pass, const Reading& reading) const override;
  /// -> [B, classes]
  Tensor logits(const Pass& pass, const Reading& reading) const {
    return head_.logits(pooled(pass, reading)).value();
  }

  Cost attention_cost(Index batch) const override;
  Index layer_weights() const override { return trunk_.layer_weights(); }
  Index matrix_weights() const override { return layer_weights() + head_.weights(); }
  double rows_per_token() const override;
  std::vector<std::vector<double>> spans() const override { return trunk_.spans(); }
  void visit(Inventory& inventory) override;

 private:
  /// One vector for each sequence; where positions halt by themselves, `steps` is filled with the
  /// mean number of steps that those of each took.  -> [B, trunk width]
  Var pooled(const Pass& pass, const Reading& reading, std::vector<float>* steps = nullptr) const;

  Var behind_cls(const Pass& pass, const Reading& reading, std::vector<float>* steps) const;

  Pool pool_;
  core::Token cls_token_;  ///< comes after those of the data
  Index length_;           ///< of what the trunk reads
  Trunk trunk_;
  ClassHead head_;
};

}  // namespace weft::layers
