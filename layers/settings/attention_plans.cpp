#include "layers/settings/attention_plans.h"

#include <algorithm>
#include <ranges>

#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/registry.h"

namespace weft::layers {
namespace {

/// Reads `kind` and that mechanism's settings.
AttentionPlan read_mechanism(core::Fields& field, std::string kind, const AttentionSite& site) {
  field.choice("kind", kind, "which mechanism; weft list attentions describes them",
               attention_kinds());
  AttentionPlan chosen;
  for (const AttentionEntry& entry : attention_registry())
    field.when("kind", {entry.kind}, [&] {
      AttentionPlan configured = entry.configure(field, site);
      if (kind == entry.kind) chosen = std::move(configured);
    });
  if (!find_attention(kind))
    field.problem("kind",
                  core::message_of("is missing, and \"", kind, "\" itself is no mechanism"));
  return chosen;
}

/// The groups whose settings name a mechanism.
auto named(const std::vector<HeadGroupPlan>& groups) {
  return groups | std::views::filter(
                      [](const HeadGroupPlan& group) { return group.attention.make != nullptr; });
}

}  // namespace

std::vector<HeadGroupPlan> read_attention(core::Fields& field, const std::string& name,
                                          const AttentionSite& site) {
  ProjectionSettings projection;
  projection.fields(field);
  const auto check = [&](Index heads) {
    const std::string unfit = projection.why_unfit(heads, heads * site.head_width);
    if (!unfit.empty()) field.problem("modules", unfit);
  };
  const auto tables =
      field.tables("groups", "head groups: tables of kind, heads and the kind's settings");
  AttentionPlan all_heads;
  field.when(tables.empty(), "all heads alike, without groups",
             [&] { all_heads = read_mechanism(field, name, site); });
  if (tables.empty()) {
    check(site.heads);
    return {{std::move(all_heads), site.heads, projection}};
  }
  std::vector<HeadGroupPlan> groups;
  Index heads = 0;
  for (const auto& table : tables) {
    AttentionSite own = site;
    own.heads = 1;
    table->integer("heads", own.heads, "heads of this group", core::between(1, 1024));
    groups.push_back({read_mechanism(*table, "", own), own.heads, projection});
    check(own.heads);
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
    return group.attention.most_memory_tokens > 0;
  });
}

bool takes_padding(const std::vector<HeadGroupPlan>& groups) {
  return std::ranges::all_of(
      named(groups), [](const HeadGroupPlan& group) { return group.attention.traits.padding; });
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
                    core::message_of("attention \"", name, "\" cannot read ", settings.positions,
                                     " positions; take learned, sinusoidal or rotary"));
}

bool knows_bf16(const std::vector<HeadGroupPlan>& groups) {
  return std::ranges::all_of(
      groups, [](const HeadGroupPlan& group) { return group.attention.traits.bf16; });
}

}  // namespace weft::layers
