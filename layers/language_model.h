#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/tokens.h"
#include "layers/model_settings.h"
#include "layers/output_layer.h"
#include "layers/positions.h"
#include "layers/reversible.h"
#include "layers/shared_tables.h"
#include "layers/stream_memory.h"

namespace weft::layers {

/// A Transformer over tokens, causal unless its settings say otherwise: embedding, positions,
/// blocks, final norm, output layer.
///
/// Initialisation: token and position tables and all weights from N(0, 0.02²); the two
/// projections that write into the residual stream from N(0, 0.02² / 2L), so that its variance
/// does not grow with depth; biases 0, gains 1. An untied output table starts like the token table.
/// Sparse layers start uniformly by Glorot and Bengio.
class LanguageModel {
 public:
  LanguageModel(const ModelSettings& settings, const AttentionPlans& plans, Index vocabulary,
                Index length, bool recompute = false);

  /// inputs: [B, T] -> [B * T, W] after the final norm, [B * T, 2 W] from concatenated streams.
  /// With a memory, the inputs continue the streams that it carries, and it carries on from there.
  Var hidden(const Pass& pass, const core::Tokens& inputs, StreamMemory* memory = nullptr) const;
  /// Mean loss in nats over the counted targets, times `share`, with the mechanisms' penalties.
  Var loss(const Pass& pass, const core::Tokens& inputs, const core::Tokens& targets, Real share,
           StreamMemory* memory = nullptr) const;
  /// How well each target is predicted, in evaluation.
  TokenScores score(const Pass& pass, const core::Tokens& inputs, const core::Tokens& targets,
                    StreamMemory* memory = nullptr) const {
    return output_.score(hidden(pass, inputs, memory).value(), tokens_, targets);
  }
  /// Whether segments of a stream are meant to be read with a memory.
  bool recurrent() const { return recurrent_; }
  /// An empty memory for B streams.
  StreamMemory memory(Index batch) const;
  /// h: [N, W] -> [N, V]
  Tensor logits(const Tensor& h) const { return output_.logits(h, tokens_); }

  /// The place of every layer for one token of decoding.
  struct DecodeStates {
    std::vector<MultiHeadState> layers;
    Index position = 0;
  };
  DecodeStates begin() const;
  /// Appends a token.  -> [V], the logits of the next one
  Tensor step(DecodeStates& states, core::Token token) const;
  Index decode_bytes(const DecodeStates& states) const;

  /// Attention of all layers together; in a recurrent model, in the middle of a stream.
  Cost attention_cost(const Sequences& sequences) const;
  /// How many keys each head of each layer reads of a long past; empty where there is no such
  /// number.
  std::vector<std::vector<double>> spans() const;
  /// Numbers in the weight matrices of the layers.
  Index layer_weights() const;
  /// Numbers in weight matrices, output layer included, embeddings not.
  Index matrix_weights() const;
  Index vocabulary() const { return vocabulary_; }
  /// The longest sequence that positions allow; nothing when they allow any.
  std::optional<Index> longest() const { return positions_.longest(); }

  /// What the mechanisms report of themselves, under their path.
  std::vector<Figure> figures() const;
  void project();
  void visit(Inventory& inventory);

 private:
  Var embed(const Pass& pass, const core::Tokens& inputs, Index first_position) const;
  Var run_blocks(const Pass& pass, Var x, const std::vector<Sequences>& sequences) const;
  /// Gives every layer what the memory holds for it, and takes back what it read.
  void enter_segment(const StreamMemory& memory, std::vector<Sequences>& of_layers) const;
  void leave_segment(StreamMemory& memory, const std::vector<Sequences>& of_layers) const;
  /// Columns that the output layer reads.
  Index output_width() const { return streams_ == StreamOutput::concat ? 2 * width_ : width_; }

  Index vocabulary_, width_;
  std::optional<StreamOutput> streams_;  ///< how a reversible stack ends; nothing when it is plain
  Parameter tokens_;
  OutputLayer output_;
  Positions positions_;
  std::unique_ptr<SharedTables> shared_ = std::make_unique<SharedTables>();
  std::vector<Block> blocks_;
  std::optional<Norm> final_norm_;
  Real dropout_;
  Index loss_chunk_;
  bool recompute_;
  bool causal_;
  bool recurrent_;
};

}  // namespace weft::layers
