#pragma once

#include "layers/model/model.h"
#include "layers/model/trunk.h"
#include "layers/parts/span_head.h"
#include "layers/settings/recomputation.h"

namespace weft::layers {

/// A Transformer that answers questions by a stretch of a document: the trunk reads a token of the
/// whole (position 0), the question and the document, and the head says where the answer begins and
/// ends. A reading's `targets` are the answers, [B, A, 2], and `documents` says where to look.
/// Padding is not read.
class SpanModel final : public Model {
 public:
  SpanModel(const ModelSettings& settings, const AttentionPlans& plans, const ModelShape& shape,
            Recomputation recompute = {});

  Var loss(const Pass& pass, const Reading& reading, Real share) const override;
  /// Sequences with an answer.
  Index counted(const core::Batch& batch) const override;
  /// One score for each sequence, right where the choice is a listed answer.
  TokenScores score(const Pass& pass, const Reading& reading) const override;
  /// The best span of each document, of at most `answer_longest` tokens.
  std::vector<SpanChoice> choose(const Pass& pass, const Reading& reading) const;

  Cost attention_cost(Index batch) const override;
  Index layer_weights() const override { return trunk_.layer_weights(); }
  Index matrix_weights() const override { return layer_weights() + head_.weights(); }
  std::vector<std::vector<double>> spans() const override { return trunk_.spans(); }
  void visit(Inventory& inventory) override;

 private:
  Var hidden(const Pass& pass, const Reading& reading, std::vector<float>* steps = nullptr) const;

  Index length_, longest_;
  Trunk trunk_;
  SpanHead head_;
};

}  // namespace weft::layers
