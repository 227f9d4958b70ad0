#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/parameter_arena.h"
#include "layers/attention/contract/relative.h"
#include "layers/attention/contract/shared_tables.h"
#include "layers/attention/registry.h"
#include "tests/layers/given_fields.h"
#include "tests/random_values.h"

namespace weft::layers {

/// Sequences with padding behind the given numbers of real keys.
inline Sequences padded(Sequences sequences, std::vector<Index> key_lengths) {
  sequences.key_lengths = std::make_shared<const std::vector<Index>>(std::move(key_lengths));
  return sequences;
}

/// The sequences of rows that a mechanism has inside the layers for these sequences of tokens.
Sequences laid_out(const RowRule& rule, const Sequences& tokens);

/// A mechanism of some kind with drawn inputs: one matrix for each projection, then the layer's
/// input x. Parameters of its own start by their laws, off the kink that some have there.
class AttentionSample {
 public:
  AttentionSample(const std::string& kind, const Sequences& sequences, Index heads,
                  Index head_width, const tests::Settings& settings = {},
                  const RelativeSettings& relative = {},
                  core::Precision precision = core::Precision::float32);

  const Attention& attention() const { return *attention_; }
  Attention& attention() { return *attention_; }
  const AttentionTraits& traits() const { return traits_; }
  /// Null unless asked for.
  const RelativePositions* relative() const { return relative_.get(); }
  autograd::ParameterArena& arena() { return *arena_; }
  /// The parameters and states of the mechanism.
  const autograd::Inventory& inventory() const { return inventory_; }
  /// Of rows, where the mechanism has more than tokens.
  const Sequences& sequences() const { return sequences_; }
  /// The tokens of sequence b among rows.  x: [B * rows, n] -> [T, n]
  Tensor tokens_of(const Tensor& x, Index b) const;
  /// With which token each row of a sequence is complete.
  std::vector<Index> completed_with() const;
  Index heads() const { return heads_; }
  Index head_width() const { return head_width_; }
  Index width() const { return heads_ * head_width_; }
  /// Heads of an input.
  Index key_heads(std::size_t input = 1) const { return inputs_[input].shape()[1] / head_width_; }
  /// Where column d of what a head reads of a token is in the keys and in the values.
  std::size_t key_place(Index token, Index head, Index d) const {
    return std::size_t((token * key_heads() + head * key_heads() / heads_) * head_width_ + d);
  }
  std::vector<Tensor>& inputs() { return inputs_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }

  /// One variable for each of inputs().
  Var forward(const Pass& pass, const std::vector<Var>& in) const;

  /// Output and gradients of a training pass. The upstream gradient is drawn.
  struct Run {
    Tensor out;
    std::vector<Tensor> gradients;
    std::vector<Real> parameter_gradients;
  };
  Run run() const;
  Tensor upstream() const;
  /// Without a tape, in evaluation.
  Tensor evaluate() const;
  /// Sequence b token by token -> [T, H D]. After `copied_after` tokens a copy of the state goes
  /// on, while the state itself reads other tokens first.
  Tensor decode(Index b, Index copied_after = -1) const;
  /// The most pairs that a token of the first sequence scores when it is decoded.
  Index most_pairs_of_a_decoded_token() const;

 private:
  /// Reads the token that stands in a row of the inputs as if it were at a position.
  void step(DecodeState& state, Index row, Index position, std::span<Real> out) const;
  Index rows_of(const Projection& projection) const;
  /// The row of a position of decoding.
  Index row_at(Index position) const;

  Sequences sequences_;
  Index heads_, head_width_;
  std::unique_ptr<SharedTables> shared_ = std::make_unique<SharedTables>();
  std::shared_ptr<RelativePositions> relative_;
  AttentionTraits traits_;
  std::shared_ptr<const RowRule> rule_;  ///< null where rows are tokens
  std::unique_ptr<Attention> attention_;
  autograd::Inventory inventory_;
  std::unique_ptr<autograd::ParameterArena> arena_;
  std::vector<Tensor> inputs_;
};

}  // namespace weft::layers
