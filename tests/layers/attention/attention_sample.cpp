#include "tests/layers/attention/attention_sample.h"

#include <algorithm>

#include "core/counters.h"
#include "layers/attention/partition/rows.h"
#include "tests/layers/attention/off_the_kink.h"

namespace weft::layers {

Sequences laid_out(const RowRule& rule, const Sequences& tokens) {
  std::vector<RowLayout> layouts;
  std::vector<Index> lengths;
  for (Index b = 0; b < tokens.batch; ++b) {
    layouts.push_back(rule.layout(tokens.real_keys(b)));
    lengths.push_back(layouts.back().rows);
  }
  Sequences rows =
      padded(Sequences::self(tokens.batch, std::ranges::max(lengths), tokens.causal), lengths);
  rows.rows = std::make_shared<const std::vector<RowLayout>>(std::move(layouts));
  return rows;
}

AttentionSample::AttentionSample(const std::string& kind, const Sequences& sequences, Index heads,
                                 Index head_width, const tests::Settings& settings,
                                 const RelativeSettings& relative, core::Precision precision)
    : sequences_(sequences), heads_(heads), head_width_(head_width) {
  AttentionSite site{.width = width(),
                     .heads = heads,
                     .head_width = head_width,
                     .length = std::max(sequences.queries, sequences.keys),
                     .causal = sequences.causal,
                     .shared = shared_.get(),
                     .precision = precision};
  if (const auto shared = settings.find("kv_heads"); shared != settings.end())
    site.kv_heads = std::get<Index>(shared->second);
  relative_ = site.relative = make_relative(relative, site);
  tests::GivenFields fields(settings);
  const AttentionPlan plan = find_attention(kind)->configure(fields, site);
  traits_ = plan.traits;
  rule_ = plan.rows;
  if (rule_) sequences_ = laid_out(*rule_, sequences);
  attention_ = plan.make(site);
  attention_->visit(inventory_);
  if (relative_) relative_->visit(inventory_);
  shared_->visit(inventory_);
  arena_ = std::make_unique<autograd::ParameterArena>(inventory_,
                                                      autograd::ParameterArena::Use::training);
  arena_->initialise(core::Rng(1));
  move_reaches_off_the_kink(*arena_);
  for (const Projection& projection : attention_->projections())
    inputs_.push_back(tests::random_tensor(
        {rows_of(projection), projection.columns(heads, head_width)}, 10 + inputs_.size()));
  inputs_.push_back(tests::random_tensor({sequences_.batch * sequences_.queries, width()}, 9));
}

Var AttentionSample::forward(const Pass& pass, const std::vector<Var>& in) const {
  AttentionInput input{{}, in.back(), sequences_};
  for (std::size_t i = 0; i + 1 < in.size(); ++i) input.blocks.push_back({in[i], 0});
  return attention_->forward(pass, input);
}

AttentionSample::Run AttentionSample::run() const {
  arena_->zero_gradients();
  autograd::Tape tape;
  autograd::Journal journal;
  std::vector<Var> leaves;
  for (const Tensor& x : inputs_) leaves.push_back(tape.watch(x));
  const Var out = forward(Pass(tape, core::Rng(3), journal), leaves);
  tape.sweep(out, upstream());
  Run result{out.value(), {}, {}};
  for (const Var& leaf : leaves) result.gradients.push_back(tape.gradient(leaf));
  result.parameter_gradients.assign(arena_->gradients().begin(), arena_->gradients().end());
  return result;
}

Tensor AttentionSample::upstream() const {
  return tests::random_tensor({sequences_.batch * sequences_.queries, width()}, 5);
}

Tensor AttentionSample::evaluate() const {
  return forward(Pass(core::Rng(3)), {inputs_.begin(), inputs_.end()}).value();
}

Tensor AttentionSample::tokens_of(const Tensor& x, Index b) const {
  const Index rows = sequences_.queries, n = x.shape().back();
  if (!rule_) return x.rows(b * rows, rows);
  const std::vector<Index>& places = (*sequences_.rows)[std::size_t(b)].of_tokens;
  Tensor tokens({Index(places.size()), n});
  for (std::size_t t = 0; t < places.size(); ++t)
    std::ranges::copy(x.rows(b * rows + places[t], 1).read(),
                      tokens.write().begin() + Index(t) * n);
  return tokens;
}

Index AttentionSample::row_at(Index position) const {
  if (!rule_) return position;
  const PartitionTree tree((*sequences_.rows)[0].tokens());
  return tree.first(PartitionRows::level_of(position)) + PartitionRows::index_of(position);
}

std::vector<Index> AttentionSample::completed_with() const {
  const Index tokens = rule_ ? (*sequences_.rows)[0].tokens() : sequences_.queries;
  std::vector<Index> token_of(std::size_t(sequences_.queries), tokens - 1);
  for (Index t = 0; t < tokens; ++t) {
    token_of[std::size_t(row_at(t))] = t;
    if (!rule_) continue;
    for (const Index position : rule_->completed_by(t)) token_of[std::size_t(row_at(position))] = t;
  }
  return token_of;
}

void AttentionSample::step(DecodeState& state, Index row, Index position,
                           std::span<Real> out) const {
  StepInput token{{}, inputs_.back().rows(row, 1).read(), position};
  for (std::size_t i = 0; i + 1 < inputs_.size(); ++i)
    token.blocks.push_back(inputs_[i].rows(row, 1).read());
  attention_->step(state, token, out);
}

Tensor AttentionSample::decode(Index b, Index copied_after) const {
  const Index first = b * sequences_.queries;
  const Index length = rule_ ? (*sequences_.rows)[std::size_t(b)].tokens() : sequences_.queries;
  auto state = attention_->begin();
  Tensor out({length, width()}), other({1, width()});
  // A token and the rows that it completes; `row_of` says what is read for a position.
  const auto advance = [&](DecodeState& of, Index t, const auto& row_of, std::span<Real> to) {
    step(of, row_of(t), t, to);
    if (!rule_) return;
    for (const Index position : rule_->completed_by(t))
      step(of, row_of(position), position, other.write());
  };
  for (Index t = 0; t < length; ++t) {
    if (t == copied_after) {
      const auto left = std::move(state);
      state = left->copy();
      std::vector<Real> ignored(static_cast<std::size_t>(width()));
      for (Index later = t; later < length; ++later)
        advance(
            *left, later, [&](Index) { return first; }, ignored);
    }
    advance(
        *state, t, [&](Index position) { return first + row_at(position); },
        out.write().subspan(std::size_t(t * width()), std::size_t(width())));
  }
  return out;
}

Index AttentionSample::most_pairs_of_a_decoded_token() const {
  const auto state = attention_->begin();
  std::vector<Real> out(static_cast<std::size_t>(width()));
  Index most = 0;
  for (Index t = 0; t < sequences_.queries; ++t) {
    const Index before = core::counters().scored_pairs;
    step(*state, t, t, out);
    most = std::max<Index>(most, core::counters().scored_pairs - before);
  }
  return most;
}

Index AttentionSample::rows_of(const Projection& projection) const {
  return sequences_.batch *
         (projection.side == Projection::Side::queries ? sequences_.queries : sequences_.keys);
}

}  // namespace weft::layers
