#include "layers/multi_head.h"

#include "core/error.h"
#include "layers/attention/check_input.h"
#include "layers/attention/relative.h"
#include "layers/stream_memory.h"

namespace weft::layers {

MultiHead::MultiHead(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site, Init in,
                     Init out, std::shared_ptr<const Rotary> rotary,
                     const RelativeSettings* relative)
    : output_(site.heads * site.head_width, site.width, out), rotary_(std::move(rotary)) {
  Index first_head = site.first_head;
  for (const HeadGroupPlan& part : plan) {
    AttentionSite own = site;
    own.heads = part.heads;
    own.first_head = first_head;
    first_head += part.heads;
    if (relative) own.relative = make_relative(*relative, own);
    auto attention = part.make(own);
    const std::string unfit = why_unfit(attention->traits(), own);
    core::require(unfit.empty(), "attention of layer ", site.layer, " ", unfit);
    auto projections = attention->projections();
    const Index columns = own.heads * own.head_width;
    std::vector<Index> turned;
    for (std::size_t i = 0; i < projections.size(); ++i)
      if (projections[i].rotates) turned.push_back(Index(i) * columns);
    Linear projection(site.width, Index(projections.size()) * columns, in);
    groups_.push_back({std::move(attention), std::move(projections), std::move(projection),
                       part.heads, columns, std::move(turned), own.relative});
  }
}

/// Puts what was carried before the keys and values of this segment.
void MultiHead::join_past(const Pass& pass, const Group& group, const Var& packed,
                          AttentionInput& input) const {
  const Tensor before =
      last_rows(input.sequences.segment->before, input.sequences.batch, group.attention->carries());
  if (before.size() == 0) return;
  const std::size_t first = group.projections.size() - std::size_t(group.key_sided());
  const Index column = Index(first) * group.columns;
  const Index count = group.key_sided() * group.columns;
  const Var all = autograd::append_rows(group.in.part(pass, before, column, count), packed,
                                        input.sequences.batch, column);
  for (std::size_t i = first; i < group.projections.size(); ++i)
    input.blocks[i] = {all, Index(i - first) * group.columns};
  input.sequences.keys += before.shape()[0] / input.sequences.batch;
}

Var MultiHead::mix(const Pass& pass, const Var& x, const Sequences& sequences) const {
  if (sequences.segment && !pass.replaying()) sequences.segment->now = x.value();
  std::vector<Var> outputs;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    Var packed = group.in.forward(x);
    if (rotary_ && !group.turned.empty())
      packed = rotary_->turn(packed, group.turned, group.heads, sequences.queries);
    AttentionInput input{{}, x, sequences};
    for (std::size_t i = 0; i < group.projections.size(); ++i)
      input.blocks.push_back({packed, Index(i) * group.columns});
    if (sequences.segment) join_past(pass, group, packed, input);
    outputs.push_back(group.attention->forward(pass.at(g), input));
  }
  return outputs.size() == 1 ? outputs[0] : autograd::concat(outputs);
}

MultiHeadState MultiHead::begin() const {
  MultiHeadState state;
  for (const Group& group : groups_) state.groups.push_back(group.attention->begin());
  return state;
}

Tensor MultiHead::step(MultiHeadState& state, const Tensor& x, Index position) const {
  Index columns = 0;
  for (const Group& group : groups_) columns += group.columns;
  Tensor heads({1, columns});
  std::span<Real> out = heads.write();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    Tensor packed = group.in.forward(x).value();
    const auto n = std::size_t(group.columns);
    std::span<Real> row = packed.write();
    if (rotary_)
      for (const Index first : group.turned)
        rotary_->turn_row(row.subspan(std::size_t(first), n), position);
    StepInput input{{}, x.read(), position};
    for (std::size_t i = 0; i < group.projections.size(); ++i)
      input.blocks.push_back(row.subspan(i * n, n));
    group.attention->step(*state.groups[g], input, out.first(n));
    out = out.subspan(n);
  }
  return output_.forward(Var(std::move(heads))).value();
}

Cost MultiHead::cost(const Sequences& sequences, bool continued) const {
  Cost total;
  for (const Group& group : groups_) {
    Sequences own = sequences;
    const Index past = continued ? group.attention->carries() : 0;
    own.keys += past;
    total += group.attention->cost(own);
    // What is carried is projected again, and the projection learns from it.
    const Index projected = 2 * sequences.batch * past * group.in.weights() /
                            Index(group.projections.size()) * group.key_sided();
    total.flops += projected;
    total.backward_flops += projected;
  }
  return total;
}

Index MultiHead::weights() const {
  Index total = output_.weights();
  for (const Group& group : groups_) total += group.in.weights();
  return total;
}

Var MultiHead::penalty(const Pass& pass) const {
  Var total;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Var own = groups_[g].attention->penalty(pass.at(g));
    if (own.value().size() == 0) continue;
    total = total.value().size() == 0 ? own : autograd::add(total, own);
  }
  return total;
}

std::vector<Figure> MultiHead::figures() const {
  std::vector<Figure> all;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (Figure& own : groups_[g].attention->figures()) {
      const std::string group = groups_.size() == 1 ? "" : std::to_string(g);
      all.push_back({"mechanism" + group + "." + own.name, own.value});
    }
  return all;
}

Index MultiHead::carries() const {
  Index most = 0;
  for (const Group& group : groups_) most = std::max(most, group.attention->carries());
  return most;
}

Index MultiHead::carries_at_most() const {
  Index most = 0;
  for (const Group& group : groups_) most = std::max(most, group.attention->carries_at_most());
  return most;
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

void MultiHead::project() {
  for (Group& group : groups_) group.attention->project();
}

void MultiHead::visit(Inventory& inventory) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::string suffix = groups_.size() == 1 ? "" : std::to_string(g);
    inventory.enter("projection" + suffix, groups_[g].in);
    inventory.enter("mechanism" + suffix, *groups_[g].attention);
    if (groups_[g].relative) inventory.enter("relative" + suffix, *groups_[g].relative);
  }
  inventory.enter("output", output_);
}

}  // namespace weft::layers
