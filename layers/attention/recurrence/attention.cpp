#include "layers/attention/recurrence/attention.h"

#include <cmath>

#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/recurrence/kernel.h"

namespace weft::layers {
namespace {

/// The states of all heads and the last rows under the convolution: constant in the number of
/// tokens.
struct RecurrentState final : DecodeState {
  Tensor states;  ///< [1, H, D, D]
  std::vector<Real> past;

  Index bytes() const override {
    return (states.size() + Index(past.size())) * Index(sizeof(Real));
  }
};

}  // namespace

AttentionTraits recurrent_traits(std::string_view summary) {
  return {.summary = summary,
          .bidirectional = false,
          .exact = false,
          .cross = false,
          .keys_per_token = "all before it, as one matrix",
          .decode_state = "a matrix of D x D a head"};
}

void list_chunk_of(core::Fields& field, Index& chunk) {
  field.integer("chunk", chunk, "tokens that are worked out together; speed only",
                core::between(1, 1024));
}

void list_conv(core::Fields& field, Index& taps) {
  field.integer("conv", taps,
                "tokens under the convolution of queries, keys and values, the last its own; 0: no "
                "convolution",
                core::between(0, 64));
}

RecurrentAttention::RecurrentAttention(const RecurrentForm& form, const AttentionSite& site)
    : form_(form),
      conv_({{"conv_q", site.heads * site.head_width},
             {"conv_k", site.heads * site.head_width},
             {"conv_v", site.heads * site.head_width}},
            form.conv),
      gain_({site.head_width}, autograd::Init::ones()) {
  form_.rule.heads = form_.rule.key_heads = site.heads;
  form_.rule.width = site.head_width;
  form_.rule.scale = 1 / std::sqrt(Real(site.head_width));
  if (gated()) gate_.emplace(site.width, columns(), form.gate);
}

std::vector<Projection> RecurrentAttention::projections() const {
  return {{"q", Projection::Side::queries, form_.rotates},
          {"k", Projection::Side::keys, form_.rotates},
          {"v", Projection::Side::keys, false}};
}

RecurrenceProblem RecurrentAttention::rule(const Sequences& sequences) const {
  RecurrenceProblem own = form_.rule;
  own.sequences = sequences;
  return own;
}

Var RecurrentAttention::mix(const std::vector<HeadBlock>& blocks, const Var& x,
                            const Sequences& sequences, const Var& initial, Tensor* final) const {
  const TokenGates own = gates(x);
  const Var heads =
      recur(rule(sequences),
            {blocks[0], blocks[1], blocks[2], own.decay, own.write, own.erase, initial}, final);
  return gated_norm(form_.norm, heads, gated() ? gate_->forward(x) : Var(), gain_);
}

Var RecurrentAttention::forward(const Pass&, const AttentionInput& input) const {
  check_input(form_.kind, *this, input, columns());
  const Sequences& s = input.sequences;
  core::require(s.causal && s.queries == s.keys, form_.kind,
                " attention: has a causal form over one sequence only; take another attention "
                "(weft list attentions)");
  return mix(conv_.forward(input.blocks, s.queries), input.x, s, {}, nullptr);
}

std::unique_ptr<DecodeState> RecurrentAttention::begin() const {
  auto state = std::make_unique<RecurrentState>();
  state->states = Tensor({1, heads(), form_.rule.width, form_.rule.width}, 0);
  state->past.assign(std::size_t(conv_.past_size()), Real(0));
  return state;
}

void RecurrentAttention::step(DecodeState& state, const StepInput& input,
                              std::span<Real> out) const {
  auto& own = static_cast<RecurrentState&>(state);
  Tensor packed({1, conv_.columns()}), x({1, Index(input.x.size())});
  if (conv_.empty()) {
    Index first = 0;
    for (const std::span<const Real>& block : input.blocks) {
      std::ranges::copy(block, packed.write().begin() + first);
      first += Index(block.size());
    }
  } else {
    conv_.step(input.blocks, own.past, packed.write());
  }
  std::ranges::copy(input.x, x.write().begin());
  const Var row(std::move(packed));
  const std::vector<HeadBlock> blocks{{row, 0}, {row, columns()}, {row, 2 * columns()}};
  const Tensor before = own.states;
  const Var y =
      mix(blocks, Var(std::move(x)), Sequences::self(1, 1, true), Var(before), &own.states);
  std::ranges::copy(y.value().read(), out.begin());
}

/// Saves: the convolution's output, the heads' output and its gate, and what the gates need.
Cost RecurrentAttention::cost(const Sequences& s) const {
  const Index tokens = s.batch * s.queries;
  Cost cost = recurrence_cost(rule(s));
  cost += gate_cost(tokens);
  cost.saved_bytes += conv_.bytes(tokens) + bytes(tokens, columns());
  if (gated()) {
    cost += gate_->cost(tokens);
    cost.saved_bytes += bytes(tokens, columns());
  }
  return cost;
}

void RecurrentAttention::visit(autograd::Inventory& inventory) {
  conv_.visit(inventory);
  visit_gates(inventory);
  if (gate_) inventory.enter("gate", *gate_);
  inventory.add("gain", gain_);
}

}  // namespace weft::layers
