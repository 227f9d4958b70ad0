#include "layers/attention/recurrence/attention.h"

#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/kernel.h"

namespace weft::layers {
namespace {

/// The states of all heads and the last rows under the convolution: constant in the number of
/// tokens.
struct RecurrentState final : CopiedState<RecurrentState> {
  Tensor states;  ///< [1, H, D, D]
  std::vector<Real> past;

  Index bytes() const override {
    return (states.size() + Index(past.size())) * Index(sizeof(Real));
  }
};

Tensor row_of(std::span<const Real> numbers) {
  Tensor row({1, Index(numbers.size())});
  std::ranges::copy(numbers, row.write().begin());
  return row;
}

/// Columns [first, first + count).  x: [B, n] -> [B, count]
Tensor part(const Tensor& x, Index first, Index count) {
  if (count == 0) return {};
  const Index rows = x.shape()[0], columns = x.shape()[1];
  Tensor y({rows, count});
  Real* to = y.write().data();
  for (Index r = 0; r < rows; ++r)
    std::copy_n(x.data() + r * columns + first, count, to + r * count);
  return y;
}

/// a and b, which may be empty, row by row.
Tensor side_by_side(const Tensor& a, const Tensor& b) {
  return b.size() == 0 ? a : autograd::concat({Var(a), Var(b)}).value();
}

}  // namespace

AttentionTraits recurrent_traits(std::string_view summary, bool convolves) {
  return {.summary = summary,
          .bidirectional = false,
          .exact = false,
          .cross = false,
          .convolves = convolves,
          .gates_output = true,
          .carries_state = true,
          .keys_per_token = "all before it, as one matrix",
          .decode_state = "a matrix of D x D a head"};
}

void list_chunk_of(core::Fields& field, Index& chunk) {
  field.integer("chunk", chunk, "tokens computed together; affects only speed",
                core::between(1, 1024));
}

RecurrentAttention::RecurrentAttention(const RecurrentForm& form, const AttentionSite& site)
    : form_(form),
      gain_({form.norm.gate_first ? site.heads * site.head_width : site.head_width},
            autograd::Init::ones()) {
  form_.rule.heads = site.heads;
  form_.rule.key_heads = form.key_heads > 0 ? form.key_heads : site.heads;
  form_.rule.width = site.head_width;
  form_.rule.scale = form.scale > 0 ? Real(form.scale) : 1 / std::sqrt(Real(site.head_width));
  core::require(site.heads % form_.rule.key_heads == 0, form.kind,
                " attention: ", form_.rule.key_heads, " heads of keys cannot serve ", site.heads,
                " heads evenly; set key_heads to a divisor of the heads");
  if (form.key_heads > 0) keys_.emplace(site.width, 2 * key_columns(), InputMap::Form{});
  if (form.conv > 0)
    conv_.emplace(
        std::vector<ShortConvolution::Part>{
            {"conv_q", key_columns()}, {"conv_k", key_columns()}, {"conv_v", columns()}},
        form.conv, form.conv_bias);
  if (form.skips) skip_.emplace(core::Shape{site.heads}, autograd::Init::ones());
  if (gated()) gate_.emplace(site.width, columns(), form.gate);
}

std::vector<Projection> RecurrentAttention::projections() const {
  const Projection v{"v", Projection::Side::keys, false};
  if (keys_) return {v};
  return {{"q", Projection::Side::queries, form_.rotates},
          {"k", Projection::Side::keys, form_.rotates},
          v};
}

RecurrenceProblem RecurrentAttention::rule(const Sequences& sequences) const {
  RecurrenceProblem own = form_.rule;
  own.sequences = sequences;
  return own;
}

std::vector<HeadBlock> RecurrentAttention::blocks(const std::vector<HeadBlock>& projected,
                                                  const Var& x) const {
  if (!keys_) return projected;
  const Var both = keys_->forward(x);
  return {{both, 0}, {both, key_columns()}, projected[0]};
}

Var RecurrentAttention::sum(const std::vector<HeadBlock>& blocks, const Var& x,
                            const Sequences& sequences, const Var& initial, Tensor* final) const {
  const TokenGates own = gates(x);
  const Var heads =
      recur(rule(sequences),
            {blocks[0], blocks[1], blocks[2], own.decay, own.write, own.erase, initial}, final);
  return skip_ ? add_skipped(heads, blocks[2], *skip_) : heads;
}

Var RecurrentAttention::mix(const std::vector<HeadBlock>& blocks, const Var& x,
                            const Sequences& sequences, const Var& initial, Tensor* final) const {
  const Var heads = sum(blocks, x, sequences, initial, final);
  return gated_norm(form_.norm, heads, gated() ? gate_->forward(x) : Var(), gain_);
}

Var RecurrentAttention::forward(const Pass& pass, const AttentionInput& input) const {
  check_input(form_.kind, *this, input, heads(), form_.rule.width);
  const Sequences& s = input.sequences;
  require_causal_form(form_.kind, s);
  const std::vector<HeadBlock> given = blocks(input.blocks, input.x);
  if (!s.state)
    return mix(conv_ ? conv_->forward(given, s.queries) : given, input.x, s, {}, nullptr);
  const Index width = form_.rule.width, states = columns() * width;
  const Tensor past = part(s.state->before, states, carried_numbers() - states);
  const Var before(part(s.state->before, 0, states).reshaped({s.batch, heads(), width, width}));
  Tensor after;
  const Var out =
      mix(conv_ ? conv_->forward(given, s.queries, past) : given, input.x, s, before, &after);
  if (pass.replaying()) return out;
  const Tensor last = conv_ ? conv_->last_rows(given, s.queries, past) : Tensor();
  s.state->after = side_by_side(after.reshaped({s.batch, states}), last);
  return out;
}

Var RecurrentAttention::weigh(const Pass&, AttentionInput input, const HeadBlock& values) const {
  std::vector<HeadBlock> own = blocks(input.blocks, input.x);
  if (conv_) own = conv_->forward(own, input.sequences.queries);
  own[2] = values;
  return sum(own, input.x, input.sequences, {}, nullptr);
}

Index RecurrentAttention::carried_numbers() const {
  return columns() * form_.rule.width + (conv_ ? conv_->past_size() : 0);
}

std::unique_ptr<DecodeState> RecurrentAttention::begin() const {
  auto state = std::make_unique<RecurrentState>();
  state->states = Tensor({1, heads(), form_.rule.width, form_.rule.width}, 0);
  if (conv_) state->past.assign(std::size_t(conv_->past_size()), Real(0));
  return state;
}

void RecurrentAttention::step(DecodeState& state, const StepInput& input,
                              std::span<Real> out) const {
  auto& own = static_cast<RecurrentState&>(state);
  const Var x(row_of(input.x));
  std::vector<HeadBlock> given;
  for (const std::span<const Real>& block : input.blocks) given.push_back({row_of(block), 0});
  given = blocks(given, x);
  if (conv_) {
    const std::vector<Index> widths{key_columns(), key_columns(), columns()};
    std::vector<std::span<const Real>> spans;
    for (std::size_t i = 0; i < given.size(); ++i)
      spans.push_back(given[i].matrix.value().read().subspan(std::size_t(given[i].first),
                                                             std::size_t(widths[i])));
    Tensor packed({1, conv_->columns()});
    conv_->step(spans, own.past, packed.write());
    const Var convolved(std::move(packed));
    given = {{convolved, 0}, {convolved, key_columns()}, {convolved, 2 * key_columns()}};
  }
  const Var before(own.states);
  const Var y = mix(given, x, Sequences::self(1, 1, true), before, &own.states);
  std::ranges::copy(y.value().read(), out.begin());
}

/// Saves: shared queries and keys, the convolution's output, the heads' output and its gate, and
/// what the gates need.
Cost RecurrentAttention::cost(const Sequences& s) const {
  const Index tokens = s.batch * s.queries;
  Cost cost = recurrence_cost(rule(s));
  cost += gate_cost(tokens);
  cost.saved_bytes += bytes(tokens, columns() * (gated() ? 2 : 1));
  if (gated()) cost += gate_->cost(tokens);
  if (conv_) cost.saved_bytes += conv_->bytes(tokens);
  if (s.state) cost.saved_bytes += s.batch * carried_numbers() * Index(sizeof(Real));
  if (keys_) {
    cost += keys_->cost(tokens);
    cost.saved_bytes += bytes(tokens, 2 * key_columns());
  }
  return cost;
}

void RecurrentAttention::visit(autograd::Inventory& inventory) {
  if (keys_) inventory.enter("keys", *keys_);
  if (conv_) conv_->visit(inventory);
  visit_gates(inventory);
  if (skip_) inventory.add("skip", *skip_);
  if (gate_) inventory.enter("gate", *gate_);
  inventory.add("gain", gain_);
}

}  // namespace weft::layers
