#pragma once

#include <vector>

#include "core/arrays/tokens.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// A model's result for one document: its best span, and how that compares with no answer.
struct SpanChoice {
  Index start = 0, end = 0;  ///< the best span inside the document, positions of the sequence
  double score = 0;          ///< ln p(start) p(end) of that span
  double none = 0;           ///< ln p(start) p(end) of position 0, which stands for no answer
  float nats = 0;            ///< -ln of the probability of the listed answers; 0 where none is
  float steps = 0;           ///< mean over the positions, where they halt by themselves

  /// Whether no answer is at least as probable as the best span.
  bool is_none() const { return none >= score; }
};

/// From hidden vectors to the stretch of a document that answers a question: two logits for each
/// token, for answers that begin there and for answers that end there.
/// h: [B * T, W], documents: [B, 2], answers: [B, A, 2] as in autograd::span_nats.
class SpanHead {
 public:
  SpanHead(Index width, Init init) : weight_({2, width}, init) {}

  /// -> [B]
  Var nats(const Var& h, const core::Tokens& documents, const core::Tokens& answers) const {
    return autograd::span_nats(logits(h), documents, answers);
  }
  /// Mean loss in nats over the sequences with answers, times `share`.
  Var loss(const Var& h, const core::Tokens& documents, const core::Tokens& answers,
           Real share) const;
  /// The most probable span of at most `longest` tokens in each document; of equals the one that
  /// ends, then the one that begins first. `answers` may be empty.
  std::vector<SpanChoice> choose(const Tensor& h, const core::Tokens& documents,
                                 const core::Tokens& answers, Index longest) const;

  /// Numbers in weight matrices.
  Index weights() const { return weight_.shape().size(); }
  void visit(Inventory& inventory) { inventory.add("weight", weight_); }

 private:
  Var logits(const Var& h) const { return autograd::linear(h, weight_); }

  Parameter weight_;
};

/// Whether any of a sequence's listed answers is this span.
bool lists_answer(const core::Tokens& answers, Index sequence, Index start, Index end);

}  // namespace weft::layers
