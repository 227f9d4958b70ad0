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
  const Sequences& sequences() const { return sequences_; }
  Index heads() const { return heads_; }
  Index head_width() const { return head_width_; }
  Index width() const { return heads_ * head_width_; }
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
  /// Sequence b token by token -> [T, H D]
  Tensor decode(Index b) const;

 private:
  Index rows_of(const Projection& projection) const;

  Sequences sequences_;
  Index heads_, head_width_;
  std::unique_ptr<SharedTables> shared_ = std::make_unique<SharedTables>();
  std::shared_ptr<RelativePositions> relative_;
  AttentionTraits traits_;
  std::unique_ptr<Attention> attention_;
  autograd::Inventory inventory_;
  std::unique_ptr<autograd::ParameterArena> arena_;
  std::vector<Tensor> inputs_;
};

}  // namespace weft::layers
