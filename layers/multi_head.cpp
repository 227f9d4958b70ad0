#include "layers/multi_head.h"

#include "core/error.h"
#include "layers/attention/check_input.h"
#include "layers/attention/relative.h"

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

Var MultiHead::mix(const Pass& pass, const Var& x, const Sequences& sequences) const {
  std::vector<Var> outputs;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    Var packed = group.in.forward(x);
    if (rotary_ && !group.turned.empty())
      packed = rotary_->turn(packed, group.turned, group.heads, sequences.queries);
    AttentionInput input{{}, x, sequences};
    for (std::size_t i = 0; i < group.projections.size(); ++i)
      input.blocks.push_back({packed, Index(i) * group.columns});
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

Cost MultiHead::cost(const Sequences& sequences) const {
  Cost total;
  for (const Group& group : groups_) total += group.attention->cost(sequences);
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
