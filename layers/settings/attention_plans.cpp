#include "layers/settings/attention_plans.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/registry.h"

namespace weft::layers {
namespace {

/// A mechanism and its fittings.
struct Mechanism {
  AttentionPlan plan;
  FittingSettings fittings;
};

/// Reads `kind`, that mechanism's settings and its fittings.
Mechanism read_mechanism(core::Fields& field, std::string kind, const AttentionSite& site) {
  field.choice("kind", kind, "which mechanism; weft list attentions describes them",
               attention_kinds());
  Mechanism chosen;
  for (const AttentionEntry& entry : attention_registry())
    field.when("kind", {entry.kind}, [&] {
      Mechanism configured{entry.configure(field, site), {}};
      configured.fittings.fields(field, configured.plan.traits, site.heads);
      if (kind == entry.kind) chosen = std::move(configured);
    });
  if (!find_attention(kind))
    field.problem("kind",
                  core::message_of("is missing, and \"", kind, "\" itself is no mechanism"));
  return chosen;
}

/// The groups whose settings name a mechanism.
std::vector<HeadGroupPlan> named(const std::vector<HeadGroupPlan>& groups) {
  std::vector<HeadGroupPlan> all;
  std::ranges::copy_if(groups, std::back_inserter(all),
                       [](const HeadGroupPlan& group) { return group.attention.make != nullptr; });
  return all;
}

/// Whether every projection of a mechanism has as many heads as its output.
bool has_equal_projections(const AttentionPlan& plan, const AttentionSite& site) {
  if (!plan.make) return true;
  return std::ranges::all_of(plan.make(site)->projections(), [&](const Projection& projection) {
    return projection.heads == 0 || projection.heads == site.heads;
  });
}

}  // namespace

std::vector<HeadGroupPlan> read_attention(core::Fields& field, const std::string& name,
                                          const AttentionSite& site) {
  ProjectionSettings projection;
  projection.fields(field);
  const auto check = [&](Index heads, const Mechanism& read) {
    const std::string unfit = projection.why_unfit(heads, heads * site.head_width);
    if (!unfit.empty()) field.problem("modules", unfit);
    AttentionSite own = site;
    own.heads = heads;
    if (projection.sparse() &&
        (read.fittings.shared_of(heads) > 0 || !has_equal_projections(read.plan, own)))
      field.problem("projection",
                    "sparse projections are all of one width, but queries and keys of this "
                    "attention have different numbers of heads: dense, or kv_heads = 0");
  };
  const auto tables =
      field.tables("groups", "head groups: tables of kind, heads and the kind's settings");
  Mechanism all_heads;
  field.when(tables.empty(), "all heads alike, without groups",
             [&] { all_heads = read_mechanism(field, name, site); });
  if (tables.empty()) {
    check(site.heads, all_heads);
    return {{std::move(all_heads.plan), site.heads, projection, all_heads.fittings}};
  }
  std::vector<HeadGroupPlan> groups;
  Index heads = 0;
  for (const auto& table : tables) {
    AttentionSite own = site;
    own.heads = 1;
    table->integer("heads", own.heads, "heads of this group", core::between(1, 1024));
    const Mechanism read = read_mechanism(*table, "", own);
    groups.push_back({read.plan, own.heads, projection, read.fittings});
    check(own.heads, read);
    heads += own.heads;
  }
  if (heads != site.heads)
    field.problem("groups", core::message_of("the groups have ", heads,
                                             " heads together, the model ", site.heads));
  return groups;
}

std::string why_unfit(const std::vector<HeadGroupPlan>& groups, const AttentionSite& site) {
  for (const HeadGroupPlan& group : named(groups)) {
    const std::string unfit = why_unfit(group.attention.traits, site);
    if (!unfit.empty()) return unfit;
  }
  return "";
}

bool carries_past(const std::vector<HeadGroupPlan>& groups) {
  return std::ranges::any_of(named(groups), [](const HeadGroupPlan& group) {
    return group.attention.most_memory_tokens > 0 || group.attention.traits.carries_state;
  });
}

bool takes_padding(const std::vector<HeadGroupPlan>& groups) {
  return std::ranges::all_of(
      named(groups), [](const HeadGroupPlan& group) { return group.attention.traits.padding; });
}

CommonRows common_rows(const std::vector<std::string>& names, const AttentionPlans& plans) {
  const auto words = [](const RowRule* rule) { return rule ? rule->words() : "tokens alone"; };
  CommonRows common;
  std::string first;
  for (const std::string& name : names) {
    const auto plan = plans.find(name);
    if (plan == plans.end()) continue;
    for (const HeadGroupPlan& group : named(plan->second)) {
      const auto& own = group.attention.rows;
      if (first.empty()) common.rule = own, first = name;
      if (words(own.get()) != words(common.rule.get()))
        common.problem = core::message_of(
            "all layers and head groups must have the same rows, but \"", first, "\" has ",
            words(common.rule.get()), " and \"", name, "\" ", words(own.get()));
    }
  }
  return common;
}

void check_rows(core::Fields& model, const ModelSettings& settings, const AttentionPlans& plans) {
  const bool encodes = settings.is_seq2seq();
  const auto& names = encodes ? settings.encoder_attention() : settings.attention;
  const std::string key =
      encodes && !settings.seq2seq.encoder_attention.empty() ? "encoder_attention" : "attention";
  const CommonRows common = common_rows(names, plans);
  if (!common.problem.empty()) model.problem(key, common.problem);
  if (!common.rule) return;
  if (settings.universal.chosen())
    model.problem("steps",
                  core::message_of("add positions to tokens at every step, but \"", names[0],
                                   "\" has ", common.rule->words(), " as rows: 0"));
  for (const std::string& name : names) {
    const auto plan = plans.find(name);
    if (plan == plans.end()) continue;
    for (const HeadGroupPlan& group : plan->second) {
      const std::string rows =
          core::message_of("\"", name, "\" has ", common.rule->words(), " as rows, over which ");
      if (group.fittings.conv > 0)
        model.problem(key, rows + "a short convolution has no meaning: set its conv = 0");
      if (group.projection.sparse())
        model.problem(key,
                      rows + "sparse projections cannot convolve: set its projection = \"dense\"");
    }
  }
  if (settings.causal && settings.uses(FeedForwardKind::experts) && settings.experts.capacity > 0)
    model.problem("ff_capacity",
                  core::message_of("rows of ", common.rule->words(),
                                   " are placed at experts after all tokens, so that later tokens "
                                   "could take their place: 0"));
}

bool has_root(const std::vector<HeadGroupPlan>& groups) {
  return std::ranges::all_of(
      named(groups), [](const HeadGroupPlan& group) { return group.attention.rows != nullptr; });
}

bool leaks(const std::vector<HeadGroupPlan>& groups) {
  return std::ranges::any_of(
      named(groups), [](const HeadGroupPlan& group) { return group.attention.traits.leaks; });
}

void check_positions(core::Fields& model, const ModelSettings& settings, const std::string& name,
                     const std::vector<HeadGroupPlan>& groups) {
  if (!settings.relative().chosen()) return;
  for (const HeadGroupPlan& group : named(groups))
    if (!group.attention.traits.relative)
      model.problem("positions",
                    core::message_of("attention \"", name, "\" cannot read ",
                                     position_name(settings.positions),
                                     " positions; take learned, sinusoidal or rotary"));
}

bool knows_bf16(const std::vector<HeadGroupPlan>& groups) {
  return std::ranges::all_of(
      groups, [](const HeadGroupPlan& group) { return group.attention.traits.bf16; });
}

}  // namespace weft::layers
