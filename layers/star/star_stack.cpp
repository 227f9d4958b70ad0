#include "layers/star/star_stack.h"

#include <cmath>

#include "core/scope.h"
#include "layers/star/relay_attention.h"
#include "layers/star/ring_attention.h"

namespace weft::layers {
namespace {

constexpr Real leak = Real(0.01);  ///< of the reference's relu, below zero

/// Of a matrix from W to W columns.
Init glorot(Index width) { return Init::uniform(std::sqrt(3.0 / double(width))); }

core::Lengths one_each(Index batch) {
  return std::make_shared<const std::vector<Index>>(std::size_t(batch), 1);
}

/// [s; h] of each sequence.  -> [B * (T + 1), W]
Var joined(const StarStack::Output& star, Index batch) {
  return autograd::join_rows(star.relay, star.satellites, one_each(batch));
}

}  // namespace

StarStack::Part::Part(const Shape& shape, bool has_norm)
    : queries(shape.width, shape.width, glorot(shape.width)),
      keys_values(shape.width, 2 * shape.width, glorot(shape.width)),
      output(shape.width, shape.width, glorot(shape.width)) {
  if (has_norm) norm.emplace(shape.width, NormKind::layer, shape.norm_eps);
}

void StarStack::Part::visit(Inventory& inventory) {
  inventory.enter("queries", queries);
  inventory.enter("keys_values", keys_values);
  inventory.enter("output", output);
  if (norm) inventory.enter("norm", *norm);
}

void StarStack::Cycle::visit(Inventory& inventory) {
  inventory.enter("ring", ring);
  inventory.enter("relay", relay);
}

StarStack::StarStack(const Shape& shape, const StarSettings& settings)
    : shape_(shape), settings_(settings) {
  for (Index i = 0; i < (settings.tie ? 1 : shape.cycles); ++i)
    cycles_.push_back({Part(shape, true), Part(shape, settings.norm == StarNorm::post)});
}

Var StarStack::finish(const Pass& pass, const Part& part, const Var& heads) const {
  const Var y = part.output.forward(heads);
  if (settings_.norm == StarNorm::reference)
    return autograd::dropout(pass, autograd::leaky_relu(y, leak), shape_.dropout);
  return part.norm->forward(pass, autograd::dropout(pass, autograd::relu(y), shape_.dropout));
}

StarStack::Output StarStack::cycle(const Pass& pass, const Cycle& own, const Output& before,
                                   const Var& x, const Sequences& sequences) const {
  const auto& [ring, relay] = own;
  Output after;
  {
    const core::Scope scope("ring");
    const bool reference = settings_.norm == StarNorm::reference;
    const Var h = reference ? ring.norm->forward(pass, before.satellites) : before.satellites;
    after.satellites =
        finish(pass.at("ring"), ring,
               ring_attention({sequences, shape_.heads, settings_.ring}, ring.queries.forward(h),
                              ring.keys_values.forward(h), ring.keys_values.forward(x),
                              ring.keys_values.forward(before.relay)));
  }
  const core::Scope scope("relay");
  after.relay = finish(pass.at("relay"), relay,
                       relay_attention(sequences, shape_.heads, relay.queries.forward(before.relay),
                                       relay.keys_values.forward(before.relay),
                                       relay.keys_values.forward(after.satellites)));
  return after;
}

/// The part that is run again takes one variable: [s; h] as rows, and x next to h as columns.
StarStack::Output StarStack::recomputed(const Pass& pass, const Cycle& own, const Output& before,
                                        const Var& x, const Sequences& sequences) const {
  const Index batch = sequences.batch, length = sequences.queries, width = shape_.width;
  const core::Lengths ones = one_each(batch);
  const auto run = [this, &own, sequences, batch, length, width, ones](const Pass& inner,
                                                                       const Var& both) {
    const Var star = autograd::slice(both, 0, width);
    const Output entering{autograd::rows_behind(star, ones, length),
                          autograd::mean_rows(star, *ones)};
    const Var tokens = autograd::rows_behind(autograd::slice(both, width, width), ones, length);
    return joined(cycle(inner, own, entering, tokens, sequences), batch);
  };
  const Var beside = joined({x, before.relay}, batch);
  const Var after =
      autograd::recompute(pass, run, autograd::concat({joined(before, batch), beside}));
  return {autograd::rows_behind(after, ones, length), autograd::mean_rows(after, *ones)};
}

StarStack::Output StarStack::run(const Pass& pass, const Var& x, const Sequences& sequences,
                                 bool recompute) const {
  Output star{x, autograd::mean_rows(x, sequences.all_real_keys())};
  for (Index i = 0; i < shape_.cycles; ++i) {
    const core::Scope scope("cycles", i);
    const Pass own = pass.at(std::uint64_t(i));
    star = recompute ? recomputed(own, of(i), star, x, sequences)
                     : cycle(own, of(i), star, x, sequences);
  }
  return star;
}

Cost StarStack::cost(const Sequences& sequences) const {
  Cost total;
  for (Index i = 0; i < shape_.cycles; ++i) {
    total += RingProblem{sequences, shape_.heads, settings_.ring}.cost(shape_.width);
    total += relay_cost(sequences, shape_.heads, shape_.width);
  }
  return total;
}

Index StarStack::weights() const {
  Index total = 0;
  for (const Cycle& cycle : cycles_)
    for (const Part* part : {&cycle.ring, &cycle.relay})
      total += part->queries.weights() + part->keys_values.weights() + part->output.weights();
  return total;
}

double StarStack::rows_per_token(Index length) const {
  // A token passes the ring's queries and output once, its keys and values as satellite and as
  // embedding, and the relay's keys and values; a relay passes the rest once a sequence.
  const double square = double(shape_.width) * double(shape_.width);
  const double of_token = (1 + 2 * 2 + 1 + 2) * square, of_relay = (2 + 1 + 2 + 1) * square;
  return double(shape_.cycles) * (of_token + of_relay / double(length)) / double(weights());
}

void StarStack::visit(Inventory& inventory) {
  for (std::size_t i = 0; i < cycles_.size(); ++i)
    inventory.enter("cycles." + std::to_string(i), cycles_[i]);
}

}  // namespace weft::layers
