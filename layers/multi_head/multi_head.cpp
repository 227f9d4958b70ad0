#include "layers/multi_head/multi_head.h"

#include <algorithm>
#include <cstdlib>

#include "layers/multi_head/left_keys.h"
#include "layers/multi_head/stream_memory.h"

namespace weft::layers {
namespace {

/// The states of a layer's recurrences, taken apart by head groups and put together again.
class GroupStates {
 public:
  explicit GroupStates(CarriedInput* segment) : segment_(segment) {}

  /// What the next group, which carries n numbers of each stream, starts from; null for zeros.
  std::shared_ptr<CarriedState> before(Index n) {
    if (!segment_ || n == 0) return nullptr;
    auto own = std::make_shared<CarriedState>();
    own->before = autograd::slice(Var(segment_->state.before), first_, n).value();
    first_ += n;
    return own;
  }
  /// What it computed, unless it is run again.
  void after(const CarriedState* own) {
    if (!own || own->after.size() == 0) return;
    left_.push_back(Var(own->after));
    if (first_ == segment_->state.before.shape()[1])
      segment_->state.after = HeadGroups::side_by_side(left_).value();
  }

 private:
  CarriedInput* segment_;
  Index first_ = 0;
  std::vector<Var> left_;
};

}  // namespace

MultiHead::MultiHead(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Init in,
                     Init out, std::shared_ptr<const Rotary> rotary,
                     const RelativeSettings* relative)
    : groups_(plan, site, HeadGroups::Inputs::one, in, out, relative), rotary_(std::move(rotary)) {
  for (const HeadGroupPlan& part : plan)
    most_memory_tokens_ = std::max(most_memory_tokens_, part.attention.most_memory_tokens);
}

std::unique_ptr<DecodeState> MultiHeadState::copy() const {
  auto other = std::make_unique<MultiHeadState>();
  other->groups = copies_of(groups);
  other->projections = copies_of(projections);
  other->fittings = copies_of(fittings);
  return other;
}

Index MultiHeadState::bytes() const {
  Index total = 0;
  for (const auto* states : {&groups, &projections, &fittings})
    for (const auto& state : *states) total += state ? state->bytes() : 0;
  return total;
}

void MultiHead::turn(const Group& group, std::vector<HeadBlock>& blocks,
                     const Sequences& sequences) const {
  const Index first = sequences.chunk ? sequences.chunk->first() : 0;
  std::vector<bool> done(blocks.size(), false);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (done[i] || !group.projections[i].rotates) continue;
    const Var matrix = blocks[i].matrix;
    const Index width = group.head_width();
    std::vector<Index> first_columns;  // of each head
    for (std::size_t j = i; j < blocks.size(); ++j)
      if (group.projections[j].rotates && blocks[j].matrix.is(matrix))
        for (Index c = 0; c < group.projections[j].columns(group.heads, width); c += width)
          first_columns.push_back(blocks[j].first + c);
    const Var turned = rotary_->turn(matrix, first_columns, 1, sequences.queries, first);
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

/// Puts the keys and values of the chunks on the left before those of this chunk.
void MultiHead::join_left(const Pass& pass, const Group& group, AttentionInput& input) const {
  const LeftReach reach = group.attention->left_reach();
  if (!reach.any()) return;
  std::vector<Index> widths;
  for (std::size_t i = group.query_sided(); i < group.projections.size(); ++i)
    widths.push_back(group.projections[i].columns(group.heads, group.head_width()));
  const auto first = input.blocks.begin() + std::ptrdiff_t(group.query_sided());
  const LeftKeys left(*input.sequences.chunk, reach, input.sequences.batch);
  std::ranges::copy(left.before(pass, {first, input.blocks.end()}, widths), first);
  input.sequences.keys += left.rows();
}

Var MultiHead::mix(const Pass& pass, const Var& x, const Sequences& sequences) const {
  if (sequences.segment && !pass.replaying()) sequences.segment->now = x.value();
  GroupStates states(sequences.segment.get());
  std::vector<Var> outputs;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const HeadFittings& fittings = *group.fittings;
    AttentionInput input{group.in->forward(pass.at(g), x, sequences.queries), x, sequences};
    input.blocks = fittings.convolve(input.blocks, sequences.queries);
    if (sequences.segment) join_past(pass, group, input);
    input.blocks = fittings.normalise(input.blocks);
    if (rotary_) turn(group, input.blocks, sequences);
    if (sequences.chunk) join_left(pass.at(g), group, input);
    input.blocks = fittings.repeat(input.blocks);
    input.sequences.state = states.before(group.attention->carried_numbers());
    outputs.push_back(fittings.finish(group.attention->forward(pass.at(g), input), x));
    states.after(input.sequences.state.get());
  }
  return HeadGroups::side_by_side(outputs);
}

Index MultiHead::carried_numbers() const {
  Index total = 0;
  for (const Group& group : groups_) total += group.attention->carried_numbers();
  return total;
}

MultiHeadState MultiHead::begin() const {
  MultiHeadState state;
  for (const Group& group : groups_) {
    state.groups.push_back(group.attention->begin());
    state.projections.push_back(group.in->begin());
    state.fittings.push_back(group.fittings->begin());
  }
  return state;
}

void MultiHead::step_group(std::size_t g, const StepRow& row, const Tensor& packed,
                           std::span<const Real> x, std::span<Real> out) const {
  const Group& group = groups_[g];
  auto& state = static_cast<MultiHeadState&>(*row.state);
  auto blocks = group.fittings->step(state.fittings[g].get(), packed);
  for (std::size_t i = 0; rotary_ && i < blocks.size(); ++i)
    if (group.projections[i].rotates) rotary_->turn_row(blocks[i], row.position);
  group.fittings->repeat(blocks);
  group.attention->step(*state.groups[g], {{blocks.begin(), blocks.end()}, x, row.position}, out);
}

Tensor MultiHead::step(const StepRows& rows, const Tensor& x) const {
  const Index n = Index(rows.size());
  std::vector<Var> outputs;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    StepRows projected = rows;
    for (StepRow& row : projected)
      row.state = static_cast<MultiHeadState&>(*row.state).projections[g].get();
    const Tensor packed = group.in->step(projected, x);
    Tensor own({n, group.columns});
    const std::span<Real> out = own.write();
    const auto columns = std::size_t(group.columns);
    for (Index r = 0; r < n; ++r)
      step_group(g, rows[std::size_t(r)], packed.rows(r, 1), x.rows(r, 1).read(),
                 out.subspan(std::size_t(r) * columns, columns));
    outputs.push_back(group.fittings->finish(Var(std::move(own)), Var(x)));
  }
  return groups_.finish(HeadGroups::side_by_side(outputs)).value();
}

Cost MultiHead::cost(const Sequences& sequences, bool continued) const {
  Cost total;
  for (const Group& group : groups_) {
    Sequences own = sequences;
    const Index past = continued ? group.attention->memory_tokens() : 0;
    own.keys += past;
    if (continued && group.attention->carried_numbers() > 0)
      own.state = std::make_shared<CarriedState>();
    total += group.attention->cost(own);
    total += group.fittings->cost(own);
    // What is carried is projected again, and the projection learns from it.
    const Index projected = 2 * sequences.batch * past * group.in->weights() /
                            group.projected_columns() * group.key_columns();
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

core::Traffic MultiHead::chunk_traffic(const core::ChunkCut& cut, Index batch, Index from,
                                       Index to) const {
  core::Traffic sent;
  for (const Group& group : groups_) {
    const LeftReach reach = group.attention->left_reach();
    if (reach.any()) sent += traffic_of_keys(cut, reach, batch * group.key_columns(), from, to);
    if (const Index passed = group.attention->passed_numbers();
        passed > 0 && std::abs(from - to) == 1)
      sent += {batch * passed * Index(sizeof(Real)), 1};
  }
  return sent;
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
