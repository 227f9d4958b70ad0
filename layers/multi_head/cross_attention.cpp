#include "layers/multi_head/cross_attention.h"

#include "core/error.h"
#include "layers/multi_head/head_groups.h"

namespace weft::layers {

CrossAttention::CrossAttention(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site,
                               Init in, Init out) {
  AttentionSite own = site;
  own.causal = false;
  own.first_head = 0;
  for (const HeadGroupPlan& part : plan) {
    own.heads = part.heads;
    const AttentionTraits& traits = part.attention.traits;
    core::require(traits.cross && traits.padding && traits.queries_alone && traits.bidirectional,
                  "cross attention of layer ", site.layer, " cannot read another sequence");
    auto attention = part.attention.make(own);
    const std::vector<Projection> all = attention->projections();
    const auto key_sided = std::ranges::find(all, Projection::Side::keys, &Projection::side);
    const Index columns = own.heads * own.head_width;
    const auto projection = [&](auto begin, auto end) {
      return make_projection(part.projection, {begin, end}, site.width, part.heads, columns, in);
    };
    groups_.push_back({std::move(attention), projection(all.begin(), key_sided),
                       projection(key_sided, all.end()), std::size_t(key_sided - all.begin()),
                       columns});
    own.first_head += part.heads;
  }
  if (!plan.at(0).projection.sparse())
    output_.emplace(site.heads * site.head_width, site.width, out);
}

Var CrossAttention::finish(const std::vector<Var>& heads) const {
  const Var all = heads.size() == 1 ? heads[0] : autograd::concat(heads);
  return output_ ? output_->forward(all) : all;
}

Var CrossAttention::forward(const Pass& pass, const Var& x, const Var& source,
                            const Sequences& sequences) const {
  std::vector<Var> heads;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const Pass own = pass.at(g);
    AttentionInput input{group.queries->forward(own, x, sequences.queries), x, sequences};
    const auto keys = group.keys->forward(own, source, sequences.keys);
    input.blocks.insert(input.blocks.end(), keys.begin(), keys.end());
    heads.push_back(group.attention->forward(own, input));
  }
  return finish(heads);
}

CrossAttention::State CrossAttention::begin(const Tensor& source) const {
  const Index length = source.shape()[0];
  State state{{1, 1, length, false}, {}, {}};
  for (const Group& group : groups_) {
    state.keys.push_back(group.keys->forward(Pass(), Var(source), length));
    state.queries.push_back(group.queries->begin());
  }
  return state;
}

Tensor CrossAttention::step(State& state, const Tensor& x) const {
  std::vector<Var> heads;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const Var packed(group.queries->step(state.queries[g].get(), x));
    AttentionInput input{{}, Var(x), state.sequences};
    for (std::size_t i = 0; i < group.query_sided; ++i)
      input.blocks.push_back({packed, Index(i) * group.columns});
    input.blocks.insert(input.blocks.end(), state.keys[g].begin(), state.keys[g].end());
    heads.push_back(group.attention->forward(Pass(), input));
  }
  return finish(heads).value();
}

Cost CrossAttention::cost(const Sequences& sequences) const {
  Cost total;
  for (const Group& group : groups_) total += group.attention->cost(sequences);
  return total;
}

Index CrossAttention::weights() const { return weight_rows(1, 1); }

Index CrossAttention::weight_rows(Index queries, Index keys) const {
  Index total = output_ ? queries * output_->weights() : 0;
  for (const Group& group : groups_)
    total += queries * group.queries->weights() + keys * group.keys->weights();
  return total;
}

Var CrossAttention::penalty(const Pass& pass) const { return group_penalty(pass, groups_); }

std::vector<Metric> CrossAttention::metrics() const {
  std::vector<Metric> all;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (Metric& own : groups_[g].attention->metrics())
      all.push_back({"mechanism" + std::to_string(g) + "." + own.name, own.value});
  return all;
}

void CrossAttention::constrain() {
  for (Group& group : groups_) group.attention->constrain();
}

void CrossAttention::visit(Inventory& inventory) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::string suffix = groups_.size() == 1 ? "" : std::to_string(g);
    inventory.enter("queries" + suffix, *groups_[g].queries);
    inventory.enter("keys" + suffix, *groups_[g].keys);
    inventory.enter("mechanism" + suffix, *groups_[g].attention);
  }
  if (output_) inventory.enter("output", *output_);
}

}  // namespace weft::layers
