#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/inventory.h"
#include "autograd/pass.h"
#include "core/precision.h"
#include "layers/attention/contract/sequences.h"

namespace weft::layers {

class SharedTables;

using autograd::Pass;
using autograd::Var;
using core::Real;

class RelativePositions;

/// The place where a mechanism is used, from which it takes the sizes of its parameters and checks.
struct AttentionSite {
  Index layer = 0, layers = 1;
  Index width = 0;       ///< W, of the layer's input
  Index heads = 1;       ///< H, of this head group
  Index head_width = 0;  ///< D
  Index length = 0;      ///< the longest sequence of training
  Index row = 0;         ///< tokens in a row of the image that a sequence is; 0 for other sequences
  bool causal = true;
  Index first_head = 0;  ///< of the group, among the layer's heads
  /// Heads of keys and values, a divisor of `heads`: head h reads head h kv_heads / heads of them,
  /// so that neighbours share. 0 where each head has its own.
  Index kv_heads = 0;
  /// The relative positions of this head group; null when the model has none.
  std::shared_ptr<RelativePositions> relative = nullptr;
  /// Lends tables that several layers hold in common; null where nobody does, and then each has
  /// its own.
  SharedTables* shared = nullptr;
  /// Of the mechanism's products, where its traits say that it knows bf16.
  core::Precision precision = core::Precision::float32;

  Index key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
};

/// One projection of some heads: head h has columns [first + h D, first + (h + 1) D) of a
/// [tokens, columns] matrix, tokens of sequence b in rows b T .. (b + 1) T - 1.
struct HeadBlock {
  Var matrix;
  Index first = 0;
};

/// A projection that a mechanism asks for: one block of D columns for each of its heads, computed
/// from the queries' or the keys' side.
struct Projection {
  enum class Side { queries, keys };
  std::string_view name;
  Side side;
  /// Rotary positions turn it.
  bool rotates = false;
  Index heads = 0;  ///< 0: as many as the site has

  Index columns(Index of_site, Index head_width) const {
    return (heads > 0 ? heads : of_site) * head_width;
  }
};

struct AttentionInput {
  /// One for each declared projection, in order.
  std::vector<HeadBlock> blocks;
  /// The layer's input, [B * queries, W].
  Var x;
  Sequences sequences;
};

/// The cost of a call, all heads together; kernels count the same as they run.
struct Cost {
  Index scored_pairs = 0;  ///< (query, key) pairs that enter a softmax
  Index flops = 0;         ///< forward arithmetic of the matrix products, tile edges included
  Index backward_flops = 0;
  Index saved_bytes = 0;  ///< kept from forward to backward, projections not counted

  Cost& operator+=(const Cost& other) {
    scored_pairs += other.scored_pairs;
    flops += other.flops;
    backward_flops += other.backward_flops;
    saved_bytes += other.saved_bytes;
    return *this;
  }
};

/// What is kept of one sequence for its next token. Each mechanism derives its own.
struct DecodeState {
  virtual ~DecodeState() = default;
  virtual Index bytes() const = 0;
  /// The same sequence once more, to be continued in another way.
  virtual std::unique_ptr<DecodeState> copy() const = 0;
};

/// A state whose members copy themselves: `struct Own final : CopiedState<Own>`.
template <class State>
struct CopiedState : DecodeState {
  std::unique_ptr<DecodeState> copy() const override {
    return std::make_unique<State>(static_cast<const State&>(*this));
  }
};

/// Copies of several states; null stays null.
inline std::vector<std::unique_ptr<DecodeState>> copies_of(
    const std::vector<std::unique_ptr<DecodeState>>& states) {
  std::vector<std::unique_ptr<DecodeState>> copies;
  for (const auto& state : states) copies.push_back(state ? state->copy() : nullptr);
  return copies;
}

/// One token of one sequence, all heads.
struct StepInput {
  std::vector<std::span<const Real>> blocks;  ///< the columns of each projection
  std::span<const Real> x;                    ///< [W]
  Index position = 0;  ///< of the token, or what RowRule::completed_by says of another row
};

using autograd::Metric;

/// The contract of every attention mechanism. A new one is a file that derives from this, a line
/// in registry.cpp and a config; the tests over tests/layers/attention/attention_contract.h
/// run over the registry.
class Attention {
 public:
  virtual ~Attention() = default;

  virtual std::vector<Projection> projections() const {
    return {{"q", Projection::Side::queries, true},
            {"k", Projection::Side::keys, true},
            {"v", Projection::Side::keys, false}};
  }

  /// Whole sequences -> [B * queries, H D].
  virtual Var forward(const Pass& pass, const AttentionInput& input) const = 0;

  /// Decoding: `begin` a sequence, then `step` token by token; out: [H D]. Feeding a sequence
  /// through `step` gives what `forward` gives.
  virtual std::unique_ptr<DecodeState> begin() const = 0;
  virtual void step(DecodeState& state, const StepInput& input, std::span<Real> out) const = 0;

  virtual Cost cost(const Sequences& sequences) const = 0;

  /// How many tokens before its segment the next forward pass can use, at most the plan's
  /// `most_memory_tokens`; 0 where a mechanism does not carry a past.
  virtual Index memory_tokens() const { return 0; }
  /// How many numbers of each stream it carries over segments as a state; 0 where it has none.
  virtual Index carried_numbers() const { return 0; }
  /// In chunks of longer sequences: how far to the left of a chunk its keys begin, which then come
  /// before its own.
  virtual LeftReach left_reach() const { return {}; }
  /// In chunks: how many numbers of each sequence it passes on to the next chunk by itself, and as
  /// many gradients back.
  virtual Index passed_numbers() const { return 0; }
  /// How many keys each head reads of a long past, where that is a number; else empty.
  virtual std::vector<double> spans() const { return {}; }

  /// Lists parameters and states.
  virtual void visit(autograd::Inventory&) {}
  /// A price of parameters, added to the training loss; an empty Var for none. A penalty on
  /// activations is charged inside `forward`, by autograd::penalise.
  virtual Var penalty(const Pass&) const { return {}; }
  /// Metrics that its states hold about the last training step.
  virtual std::vector<Metric> metrics() const { return {}; }
  /// Brings parameters back into their legal range, after each optimizer step.
  virtual void constrain() {}
};

}  // namespace weft::layers
