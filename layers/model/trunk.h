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
#include "layers/settings/recomputation.h"
#include "layers/stack/block.h"
#include "layers/stack/reversible_stack.h"
#include "layers/star/star_stack.h"
#include "layers/universal/universal_stack.h"

namespace weft::layers {

/// What a trunk computes for sequences.
struct Encoded {
  Var tokens;  ///< [B * T, width]; rows beyond a sequence's real length mean nothing
  Var root;    ///< one vector for each whole sequence, [B, width]; empty unless it was asked for
};

/// A token that a sequence goes on with.
struct NextToken {
  BranchStates* sequence;
  core::Token token;
};
using NextTokens = std::vector<NextToken>;

/// From tokens to hidden vectors: embedding, positions, blocks, final norm; or embedding, positions
/// and the cycles of a star. If mechanisms add rows, the blocks run on those too.
/// The blocks of a Universal Transformer run several times, and positions are added at each.
///
/// Initialisation: token and position tables and all weights from N(0, d²) with d = 0.02; the two
/// projections that write into the residual stream from N(0, d² / 2L), L layers times steps, so
/// that its variance does not grow with depth; biases 0, gains 1. Sparse layers start uniformly by
/// Glorot and Bengio, and so do those of a star, whose token table starts from N(0, 1 / W).
class Trunk {
 public:
  /// `image`: what the sequences are, where they are images.
  Trunk(const ModelSettings& settings, const AttentionPlans& plans, Index vocabulary, Index length,
        Recomputation recompute, const std::optional<core::ImageForm>& image = {});

  /// inputs: [B, T] -> [B * T, width()]. Rows beyond a sequence's real length mean nothing.
  /// `steps`: where positions halt by themselves, to be filled with the number of steps that each
  /// took, 0 in padding: [B * T]. `chunk`: where the inputs are columns of longer sequences.
  Var hidden(const Pass& pass, const core::Tokens& inputs, const core::Lengths& lengths = nullptr,
             StreamMemory* memory = nullptr, std::vector<float>* steps = nullptr,
             const std::shared_ptr<const ChunkPlace>& chunk = nullptr) const;
  /// The same with the vector that represents each whole sequence, if the trunk has one.
  Encoded encode(const Pass& pass, const core::Tokens& inputs, const core::Lengths& lengths) const;
  bool has_root() const;
  /// Adds what the mechanisms charge for the pass, times `share`, to a loss.
  Var with_penalties(const Pass& pass, Var loss, Real share) const;
  /// Columns of a hidden vector: 2 W of concatenated streams, else W.
  Index width() const { return streams_ == StreamOutput::concat ? 2 * width_ : width_; }

  bool recurrent() const { return recurrent_; }
  StreamMemory memory(Index batch) const;

  /// The state that a sequence keeps in the branches of every layer.
  BranchStates begin() const;
  /// Appends tokens to sequences, several to one in turn; each row has the bits that it has alone.
  /// -> [n, width()]
  Tensor step(const NextTokens& tokens) const;

  Cost attention_cost(const Sequences& sequences) const;
  /// What chunk `from` of these many sequences sends chunk `to`.
  core::Traffic chunk_traffic(const core::ChunkCut& cut, Index batch, Index from, Index to) const;
  std::vector<std::vector<double>> spans() const;
  Index layer_weights() const;
  /// Those times the rows that pass each for one token, on average over sequences of `length`, by
  /// `hidden` or, with roots, by `encode`.
  double weight_rows(Index length, bool roots = false) const;
  bool causal() const { return causal_; }
  /// The longest sequence that positions allow; nothing when they allow any.
  std::optional<Index> longest() const { return positions_.longest(); }
  const Parameter& tokens() const { return tokens_; }

  void visit(Inventory& inventory);

 private:
  Var embed(const Pass& pass, const core::Tokens& inputs, Index first_position) const;
  /// Rows through all layers.  x: [n, W] -> [n, width()]
  Tensor step_rows(const StackRows& rows, Tensor x) const;
  Index times() const { return universal_ ? universal_->steps() : 1; }
  Sequences sequences_of(const core::Tokens& inputs, const core::Lengths& lengths) const;
  /// The rows that are read, after the final norm: `read`, or all where it is null.
  /// -> [rows, width()]
  Var run_rows(const Pass& pass, const core::Tokens& inputs, const Sequences& sequences,
               StreamMemory* memory, const autograd::RowNumbers& read,
               std::vector<float>* steps = nullptr) const;
  /// `sequences`: those of each layer.
  Var run_blocks(const Pass& pass, Var x, const std::vector<Sequences>& sequences,
                 const autograd::RowNumbers& read, std::vector<float>* steps) const;
  /// The last layer makes no more rows than are read.
  bool ends_in_read_rows() const { return rows_.present() && !streams_; }
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
  std::optional<UniversalStack> universal_;  ///< how often the blocks run, where more than once
  std::optional<StarStack> star_;            ///< in the place of blocks
  ReversibleStack stack_;  ///< the blocks' branches once more, where streams_ say how they end
  std::optional<Norm> final_norm_;
  Real dropout_;
  Recomputation recompute_;
  bool causal_;
  bool recurrent_;
};

}  // namespace weft::layers
