#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/arrays/tokens.h"
#include "layers/attention/contract/shared_tables.h"
#include "layers/model/row_spread.h"
#include "layers/multi_head/stream_memory.h"
#include "layers/parts/pixel_input.h"
#include "layers/parts/positions.h"
#include "layers/settings/attention_plans.h"
#include "layers/stack/block.h"
#include "layers/stack/reversible_stack.h"

namespace weft::layers {

/// From tokens to hidden vectors: embedding, positions, blocks, final norm. Where mechanisms have
/// rows of their own, the blocks run on those too.
///
/// Initialisation: token and position tables and all weights from N(0, d²) with d = 0.02; the two
/// projections that write into the residual stream from N(0, d² / 2L), so that its variance
/// does not grow with depth; biases 0, gains 1. Sparse layers start uniformly by Glorot and Bengio.
class Trunk {
 public:
  /// `image`: what the sequences are, where they are images.
  Trunk(const ModelSettings& settings, const AttentionPlans& plans, Index vocabulary, Index length,
        bool recompute, const std::optional<core::ImageForm>& image = {});

  /// inputs: [B, T] -> [B * T, width()]. Rows beyond a sequence's real length mean nothing.
  Var hidden(const Pass& pass, const core::Tokens& inputs, const core::Lengths& lengths = nullptr,
             StreamMemory* memory = nullptr) const;
  /// Adds what the mechanisms charge for the pass, times `share`, to a loss.
  Var with_penalties(const Pass& pass, Var loss, Real share) const;
  /// Columns of a hidden vector: 2 W of concatenated streams, else W.
  Index width() const { return streams_ == StreamOutput::concat ? 2 * width_ : width_; }

  bool recurrent() const { return recurrent_; }
  StreamMemory memory(Index batch) const;

  /// What a sequence leaves in the branches of every layer.
  BranchStates begin() const;
  /// Appends a token.  -> [1, width()]
  Tensor step(BranchStates& states, core::Token token) const;

  Cost attention_cost(const Sequences& sequences) const;
  std::vector<std::vector<double>> spans() const;
  Index layer_weights() const;
  /// Rows of the layers for each token of sequences of `length`, on average.
  double rows_per_token(Index length) const { return rows_.rows_per_token(length); }
  bool causal() const { return causal_; }
  /// The longest sequence that positions allow; nothing when they allow any.
  std::optional<Index> longest() const { return positions_.longest(); }
  const Parameter& tokens() const { return tokens_; }

  void visit(Inventory& inventory);

 private:
  Var embed(const Pass& pass, const core::Tokens& inputs, Index first_position) const;
  /// One row through all layers.  x: [1, W] -> [1, width()]
  Tensor step_row(BranchStates& states, Tensor x, Index position) const;
  /// `sequences`: those of each layer.
  Var run_blocks(const Pass& pass, Var x, const std::vector<Sequences>& sequences) const;
  /// Gives every layer what the memory holds for it, and takes back what it read.
  void enter_segment(const StreamMemory& memory, std::vector<Sequences>& of_layers) const;
  void leave_segment(StreamMemory& memory, const std::vector<Sequences>& of_layers) const;

  Index width_;
  std::optional<StreamOutput> streams_;  ///< how a reversible stack ends; nothing when it is plain
  Parameter tokens_;
  Positions positions_;
  RowSpread rows_;
  std::optional<PixelNumber> pixels_;
  std::unique_ptr<SharedTables> shared_ = std::make_unique<SharedTables>();
  std::vector<Block> blocks_;
  ReversibleStack stack_;  ///< the blocks' branches once more, where streams_ say how they end
  std::optional<Norm> final_norm_;
  Real dropout_;
  bool recompute_;
  bool causal_;
  bool recurrent_;
};

}  // namespace weft::layers
