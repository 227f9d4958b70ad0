#pragma once

#include <optional>

#include "layers/model/model.h"
#include "layers/output/output_layer.h"
#include "layers/settings/attention_plans.h"

namespace weft::layers {

/// A target that is generated token by token from one source: what was read and generated so far.
class SourceDecoder {
 public:
  virtual ~SourceDecoder() = default;
  /// The same target once more, to be continued in another way.
  virtual std::unique_ptr<SourceDecoder> copy() const = 0;
};

/// A token that a target goes on with.
struct NextOfTarget {
  SourceDecoder* target;
  core::Token token;
};

/// A model that generates one sequence from another: it reads `sources`, and predicts after every
/// input token which comes next.
class Seq2SeqModel : public Model {
 public:
  /// One row for each input token, in front of the output layer: [B * T, W]
  virtual Var hidden(const Pass& pass, const Reading& reading) const = 0;
  /// Reads a source, with no padding, and waits for the first token of the target. The model must
  /// outlive the decoder.
  virtual std::unique_ptr<SourceDecoder> begin(const std::vector<core::Token>& source) const = 0;
  /// Appends a token to each of these targets, and reads each weight once for all of them; each row
  /// has the bits that it has alone.  -> [n, V], the logits of the next ones
  Tensor step(const std::vector<NextOfTarget>& tokens) const;
  /// The longest source and target that positions allow; nothing when they allow any.
  virtual std::optional<Index> longest_source() const = 0;
  virtual std::optional<Index> longest() const = 0;

  Var loss(const Pass& pass, const Reading& reading, Real share) const override;
  TokenScores score(const Pass& pass, const Reading& reading) const override;
  /// h: [N, W] -> [N, V]
  Tensor logits(const Tensor& h) const { return output_.logits(h, tokens()); }
  Index matrix_weights() const override { return output_.weights(tokens()) + layer_weights(); }

 protected:
  /// The rows in front of the output layer: [n, W]
  virtual Tensor step_hidden(const std::vector<NextOfTarget>& tokens) const = 0;
  Seq2SeqModel(const ModelSettings& settings, Index vocabulary);

  /// The table that sources, inputs and a tied output layer share.
  virtual const Parameter& tokens() const = 0;
  /// Adds what the mechanisms charge for the pass, times `share`, to a loss.
  virtual Var with_penalties(const Pass& pass, Var loss, Real share) const = 0;

  OutputLayer output_;
  Index loss_chunk_;
};

/// How many tokens of every source of a reading are real, checked against its shapes.
core::Lengths source_lengths(const Reading& reading);

/// The model as one that generates from a source; an error that names `what` needs it, when it is
/// another.
const Seq2SeqModel& as_seq2seq_model(const Model& model, const char* what);

}  // namespace weft::layers
