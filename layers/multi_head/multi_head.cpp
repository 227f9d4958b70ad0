#include "layers/multi_head/multi_head.h"

#include <algorithm>

#include "layers/multi_head/stream_memory.h"

namespace weft::layers {

MultiHead::MultiHead(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Init in,
                     Init out, std::shared_ptr<const Rotary> rotary,
                     const RelativeSettings* relative)
    : groups_(plan, site, HeadGroups::Inputs::one, in, out, relative), rotary_(std::move(rotary)) {
  for (const HeadGroupPlan& part : plan)
    most_memory_tokens_ = std::max(most_memory_tokens_, part.attention.most_memory_tokens);
}

Index MultiHeadState::bytes() const {
  Index total = 0;
  for (const auto* states : {&groups, &projections})
    for (const auto& state : *states) total += state ? state->bytes() : 0;
  return total;
}

void MultiHead::turn(const Group& group, std::vector<HeadBlock>& blocks, Index length) const {
  std::vector<bool> done(blocks.size(), false);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (done[i] || !group.projections[i].rotates) continue;
    const Var matrix = blocks[i].matrix;
    std::vector<Index> first_columns;
    for (std::size_t j = i; j < blocks.size(); ++j)
      if (group.projections[j].rotates && blocks[j].matrix.is(matrix))
        first_columns.push_back(blocks[j].first);
    const Var turned = rotary_->turn(matrix, first_columns, group.heads, length);
    for (std::size_t j = 0; j < blocks.size(); ++j)
      if (blocks[j].matrix.is(matrix)) {
        blocks[j].matrix = turned;
        done[j] = true;
      }
  }
}

/// Puts what was carried before the keys and values of this segment.
void MultiHead::join_past(const Pass& pass, const Group& group, AttentionInput& input) const {
  const Tensor before = last_rows(input.sequences.segment->before, input.sequences.batch,
                                  group.attention->memory_tokens());
  if (before.size() == 0) return;
  const auto first = input.blocks.begin() + std::ptrdiff_t(group.query_sided());
  const std::vector<HeadBlock> now(first, input.blocks.end());
  const std::vector<HeadBlock> all =
      group.in->behind_past(pass, before, now, input.sequences.batch);
  std::ranges::copy(all, first);
  input.sequences.keys += before.shape()[0] / input.sequences.batch;
}

Var MultiHead::mix(const Pass& pass, const Var& x, const Sequences& sequences) const {
  if (sequences.segment && !pass.replaying()) sequences.segment->now = x.value();
  std::vector<Var> outputs;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    AttentionInput input{group.in->forward(pass.at(g), x, sequences.queries), x, sequences};
    if (rotary_) turn(group, input.blocks, sequences.queries);
    if (sequences.segment) join_past(pass, group, input);
    outputs.push_back(group.attention->forward(pass.at(g), input));
  }
  return HeadGroups::side_by_side(outputs);
}

MultiHeadState MultiHead::begin() const {
  MultiHeadState state;
  for (const Group& group : groups_) {
    state.groups.push_back(group.attention->begin());
    state.projections.push_back(group.in->begin());
  }
  return state;
}

Tensor MultiHead::step(MultiHeadState& state, const Tensor& x, Index position) const {
  Index columns = 0;
  for (const Group& group : groups_) columns += group.columns;
  Tensor heads({1, columns});
  std::span<Real> out = heads.write();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    Tensor packed = group.in->step(state.projections[g].get(), x);
    const auto n = std::size_t(group.columns);
    std::span<Real> row = packed.write();
    StepInput input{{}, x.read(), position};
    for (std::size_t i = 0; i < group.projections.size(); ++i) {
      const std::span<Real> block = row.subspan(i * n, n);
      if (rotary_ && group.projections[i].rotates) rotary_->turn_row(block, position);
      input.blocks.push_back(block);
    }
    group.attention->step(*state.groups[g], input, out.first(n));
    out = out.subspan(n);
  }
  return groups_.finish(Var(std::move(heads))).value();
}

Cost MultiHead::cost(const Sequences& sequences, bool continued) const {
  Cost total;
  for (const Group& group : groups_) {
    Sequences own = sequences;
    const Index past = continued ? group.attention->memory_tokens() : 0;
    own.keys += past;
    total += group.attention->cost(own);
    // What is carried is projected again, and the projection learns from it.
    const Index projected = 2 * sequences.batch * past * group.in->weights() /
                            Index(group.projections.size()) * group.key_sided();
    total.flops += projected;
    total.backward_flops += projected;
  }
  return total;
}

Index MultiHead::memory_tokens() const {
  Index most = 0;
  for (const Group& group : groups_) most = std::max(most, group.attention->memory_tokens());
  return most;
}

std::optional<Index> MultiHead::root_row(Index tokens) const {
  const std::optional<Index> root = groups_[0].attention->root_row(tokens);
  for (const Group& group : groups_)
    if (group.attention->root_row(tokens) != root) return std::nullopt;
  return root;
}

std::vector<double> MultiHead::spans() const {
  std::vector<double> all;
  for (const Group& group : groups_) {
    const std::vector<double> own = group.attention->spans();
    if (own.empty()) return {};
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace weft::layers
