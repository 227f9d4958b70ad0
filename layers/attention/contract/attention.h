#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/inventory.h"
#include "autograd/pass.h"
#include "core/arrays/tokens.h"

namespace weft::layers {

class SharedTables;

using autograd::Pass;
using autograd::Var;
using core::Index;
using core::Real;
using core::Tensor;

class RelativePositions;

/// Where a mechanism stands: what it may size its parameters and checks by.
struct AttentionSite {
  Index layer = 0, layers = 1;
  Index width = 0;       ///< W, of the layer's input
  Index heads = 1;       ///< H, of this head group
  Index head_width = 0;  ///< D
  Index length = 0;      ///< the longest sequence of training
  bool causal = true;
  Index first_head = 0;  ///< of the group, among the layer's heads
  /// The relative positions of this head group; null when the model has none.
  std::shared_ptr<RelativePositions> relative = nullptr;
  /// Lends tables that several layers hold in common; null where nobody does, and then each has
  /// its own.
  SharedTables* shared = nullptr;
};

/// What a layer hands from one segment of its streams to the next: what its attention read.
struct Segment {
  Tensor before;  ///< of the tokens before this segment, [B * M, W], without gradient
  Tensor now;     ///< of this segment, [B * T, W]; the forward pass leaves it here
};

/// The sequences of one call: B of them, `queries` long, reading `keys` keys each. A causal query
/// i reads keys up to i + keys - queries.
struct Sequences {
  Index batch = 1, queries = 0, keys = 0;
  bool causal = true;
  core::Lengths key_lengths = nullptr;  ///< how many keys of each sequence are real
  /// Where the sequences continue streams: what this layer carries; null when they stand alone.
  std::shared_ptr<Segment> segment = nullptr;

  static Sequences self(Index batch, Index length, bool causal) {
    return {batch, length, length, causal};
  }
};

/// One projection of all heads: head h stands in columns [first + h D, first + (h + 1) D) of a
/// [tokens, columns] matrix, tokens of sequence b in rows b T .. (b + 1) T - 1.
struct HeadBlock {
  Var matrix;
  Index first = 0;
};

/// A projection that a mechanism asks for: one block of H D columns, computed from the queries'
/// or the keys' side.
struct Projection {
  enum class Side { queries, keys };
  std::string_view name;
  Side side;
  /// Rotary positions turn it.
  bool rotates = false;
};

struct AttentionInput {
  /// One for each declared projection, in order.
  std::vector<HeadBlock> blocks;
  /// The layer's input, [B * queries, W].
  Var x;
  Sequences sequences;
};

/// What a call costs, all heads together; kernels count the same figures as they run.
struct Cost {
  Index scored_pairs = 0;  ///< (query, key) pairs that enter a softmax
  Index flops = 0;         ///< forward arithmetic of the matrix products, tile edges included
  Index backward_flops = 0;
  Index saved_bytes = 0;  ///< kept from forward to backward beside the projections

  Cost& operator+=(const Cost& other) {
    scored_pairs += other.scored_pairs;
    flops += other.flops;
    backward_flops += other.backward_flops;
    saved_bytes += other.saved_bytes;
    return *this;
  }
};

/// What one sequence has left behind for its next token. Each mechanism derives its own.
struct DecodeState {
  virtual ~DecodeState() = default;
  virtual Index bytes() const = 0;
};

/// One token of one sequence, all heads.
struct StepInput {
  std::vector<std::span<const Real>> blocks;  ///< [H D] for each projection
  std::span<const Real> x;                    ///< [W]
  Index position = 0;
};

/// What `weft list attentions` says of a mechanism.
struct AttentionTraits {
  std::string_view summary;
  bool causal = true;         ///< can be used in a language model
  bool bidirectional = true;  ///< can read the future when asked to
  bool exact = true;          ///< computes softmax over every key that it names
  bool cross = true;          ///< takes keys of another length than its queries
  bool padding = true;        ///< takes key lengths
  bool relative = false;      ///< reads relative positions
  bool reads_self = true;     ///< a token is among its own keys
  bool leaks = false;         ///< later tokens take part in choosing what earlier ones read
  bool adaptive = false;      ///< what is read depends on the data: `cost` is the most it can be
  /// Without causal order, what a query gets depends on itself and the keys alone: neither on its
  /// place nor on the queries beside it.
  bool queries_alone = false;
  std::string keys_per_token;
  std::string decode_state;
};

/// A number that a mechanism reports of itself after a training step, for the run's metrics.
struct Figure {
  std::string name;
  double value;
};

/// The contract of every attention mechanism. A new one is a file that derives from this, a line
/// in registry.cpp and a config; tests/layers/attention/attention_contract_test.cpp runs over the
/// registry.
class Attention {
 public:
  virtual ~Attention() = default;

  virtual AttentionTraits traits() const = 0;
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

  /// How many tokens before its segment the next forward pass can use, and the most that training
  /// may make of it; 0 where a mechanism does not carry a past.
  virtual Index carries() const { return 0; }
  virtual Index carries_at_most() const { return 0; }
  /// How many keys each head reads of a long past, where that is a number; else empty.
  virtual std::vector<double> spans() const { return {}; }

  /// Lists parameters and states.
  virtual void visit(autograd::Inventory&) {}
  /// A price of parameters, added to the training loss; an empty Var for none. A penalty on
  /// activations is charged inside `forward`, by autograd::penalise.
  virtual Var penalty(const Pass&) const { return {}; }
  /// What its states say of the last training step.
  virtual std::vector<Figure> figures() const { return {}; }
  /// Brings parameters back into their legal range, after each optimizer step.
  virtual void project() {}
};

/// Makes a configured mechanism for any layer that uses it.
using AttentionMaker = std::function<std::unique_ptr<Attention>(const AttentionSite&)>;

}  // namespace weft::layers
