#include "layers/multi_head/head_groups.h"

#include <algorithm>

#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/multi_head/make_projection.h"

namespace weft::layers {
namespace {

/// What a mechanism does between training steps, as the inventory lists it.
autograd::StepHooks hooks_of(Attention& attention) {
  return {[&attention] { attention.constrain(); }, [&attention] { return attention.metrics(); }};
}

void check_fit(const AttentionTraits& traits, const AttentionSite& site,
               HeadGroups::Inputs inputs) {
  if (inputs == HeadGroups::Inputs::two) {
    core::require(traits.cross && traits.padding && traits.queries_alone && traits.bidirectional,
                  "cross attention of layer ", site.layer, " cannot read another sequence");
    return;
  }
  const std::string unfit = why_unfit(traits, site);
  core::require(unfit.empty(), "attention of layer ", site.layer, " ", unfit);
}

/// Gives the keys' side the heads that share it where a mechanism asked for all heads, and says
/// whether there is any.
bool share_keys(std::vector<Projection>& projections, Index kv_heads) {
  bool any = false;
  for (Projection& own : projections) {
    if (kv_heads == 0 || own.heads > 0 || own.side != Projection::Side::keys) continue;
    own.heads = kv_heads;
    any = true;
  }
  return any;
}

}  // namespace

Index HeadGroups::Group::key_sided() const {
  return std::ranges::count(projections, Projection::Side::keys, &Projection::side);
}

Index HeadGroups::Group::projected_columns() const {
  Index total = 0;
  for (const Projection& own : projections) total += own.columns(heads, head_width());
  return total;
}

Index HeadGroups::Group::key_columns() const {
  Index total = 0;
  for (const Projection& own : projections)
    if (own.side == Projection::Side::keys) total += own.columns(heads, head_width());
  return total;
}

HeadGroups::HeadGroups(const std::vector<HeadGroupPlan>& plan, const AttentionSite& site,
                       Inputs inputs, Init in, Init out, const RelativeSettings* relative) {
  AttentionSite own = site;
  if (inputs == Inputs::two) own.causal = false;
  for (const HeadGroupPlan& part : plan) {
    own.heads = part.heads;
    own.kv_heads = part.fittings.shared_of(part.heads);
    own.relative = relative ? make_relative(*relative, own) : nullptr;
    check_fit(part.attention.traits, own, inputs);
    Group group;
    group.attention = part.attention.make(own);
    group.projections = group.attention->projections();
    group.relative = own.relative;
    group.heads = part.heads;
    group.columns = own.heads * own.head_width;
    const bool repeats = share_keys(group.projections, own.kv_heads);
    group.fittings = std::make_unique<HeadFittings>(part.fittings, group.projections, own, repeats);
    const auto all = group.projections.begin(), end = group.projections.end();
    const auto split = inputs == Inputs::two ? all + std::ptrdiff_t(group.query_sided()) : end;
    const auto projection = [&](auto first, auto last) {
      return make_projection(part.projection, {first, last}, site.width, part.heads,
                             site.head_width, in);
    };
    group.in = projection(all, split);
    if (inputs == Inputs::two) group.keys = projection(split, end);
    groups_.push_back(std::move(group));
    own.first_head += part.heads;
  }
  if (!plan.at(0).projection.sparse())
    output_.emplace(site.heads * site.head_width, site.width, out);
}

Var HeadGroups::side_by_side(const std::vector<Var>& heads) {
  return heads.size() == 1 ? heads[0] : autograd::concat(heads);
}

Var HeadGroups::finish_onto(const Var& residual, const Var& heads) const {
  return output_ ? output_->onto(residual, heads) : autograd::add(residual, heads);
}

Cost HeadGroups::cost(const Sequences& sequences) const {
  Cost total;
  for (const Group& group : groups_) {
    total += group.attention->cost(sequences);
    total += group.fittings->cost(sequences);
  }
  return total;
}

Index HeadGroups::weight_rows(Index queries, Index keys) const {
  Index total = output_ ? queries * output_->weights() : 0;
  for (const Group& group : groups_)
    total += queries * group.in->weights() + (group.keys ? keys * group.keys->weights() : 0);
  return total;
}

Var HeadGroups::penalty(const Pass& pass) const {
  Var total;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Var own = groups_[g].attention->penalty(pass.at(g));
    if (own.value().size() == 0) continue;
    total = total.value().size() == 0 ? own : autograd::add(total, own);
  }
  return total;
}

void HeadGroups::visit(Inventory& inventory) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    const std::string suffix = groups_.size() == 1 ? "" : std::to_string(g);
    if (group.keys) {
      inventory.enter("queries" + suffix, *group.in);
      inventory.enter("keys" + suffix, *group.keys);
    } else {
      inventory.enter("projection" + suffix, *group.in);
    }
    inventory.enter("mechanism" + suffix, *group.attention);
    inventory.add_hooks("mechanism" + suffix, hooks_of(*group.attention));
    inventory.enter("fittings" + suffix, *group.fittings);
    if (group.relative) inventory.enter("relative" + suffix, *group.relative);
  }
  if (output_) inventory.enter("output", *output_);
}

}  // namespace weft::layers
