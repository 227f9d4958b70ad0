#pragma once

#include <memory>
#include <vector>

#include "core/arrays/tokens.h"
#include "layers/model/attention_plans.h"
#include "layers/model/token_scores.h"
#include "layers/multi_head/stream_memory.h"

namespace weft::layers {

/// What a model reads in one call, and what it should have said.
struct Reading {
  core::Tokens inputs;              ///< [B, T]
  core::Tokens targets = {};        ///< [B, T], or [B, 1] where a whole sequence has one answer
  core::Lengths lengths = nullptr;  ///< real tokens of each input
  core::Tokens sources = {};        ///< [B, S], where inputs are told from another sequence
  core::Lengths source_lengths = nullptr;  ///< real tokens of each source
};

/// What data ask of a model's tables.
struct ModelShape {
  Index vocabulary = 0;
  Index length = 0;         ///< of the longest input of training
  Index classes = 0;        ///< answers to a whole sequence
  Index source_length = 0;  ///< of the longest source of training
};

/// Anything that is trained on readings.
class Model {
 public:
  virtual ~Model() = default;

  /// Mean loss in nats over the counted targets, times `share`, with the mechanisms' penalties.
  /// With a memory, the inputs continue the streams that it carries, and it carries on from there.
  virtual Var loss(const Pass& pass, const Reading& reading, Real share,
                   StreamMemory* memory = nullptr) const = 0;
  /// How well each target is predicted, in evaluation.
  virtual TokenScores score(const Pass& pass, const Reading& reading,
                            StreamMemory* memory = nullptr) const = 0;

  /// Whether segments of a stream are meant to be read with a memory.
  virtual bool recurrent() const { return false; }
  /// An empty memory for B streams.
  virtual StreamMemory memory(Index) const { return {}; }

  /// Attention of all layers together over B sequences of the training's length; in a recurrent
  /// model, in the middle of a stream.
  virtual Cost attention_cost(Index batch) const = 0;
  /// Numbers in the weight matrices of the layers.
  virtual Index layer_weights() const = 0;
  /// Numbers in weight matrices, output layer included, embeddings not.
  virtual Index matrix_weights() const = 0;
  /// How many rows a weight is multiplied with for each token of the inputs, on average: more than
  /// one where a source is read too.
  virtual double rows_per_token() const { return 1; }
  /// How many keys each head of each layer reads of a long past; empty where there is no such
  /// number.
  virtual std::vector<std::vector<double>> spans() const { return {}; }

  /// What the mechanisms report of themselves, under their path.
  virtual std::vector<Metric> metrics() const { return {}; }
  /// Brings parameters back into their legal range, after each optimizer step.
  virtual void constrain() {}
  virtual void visit(Inventory& inventory) = 0;
};

/// The model that `settings.task` names.
std::unique_ptr<Model> make_model(const ModelSettings& settings, const AttentionPlans& plans,
                                  const ModelShape& shape, bool recompute = false);

}  // namespace weft::layers
