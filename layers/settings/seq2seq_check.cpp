#include "layers/settings/seq2seq_check.h"

#include "core/error.h"

namespace weft::layers {
namespace {

/// A place of the model: what it needs of a mechanism.
struct Place {
  std::string key;  ///< of [model], where its attention is named
  bool causal;
  bool over_source = false;
  bool takes_rows = false;
};

/// What the place needs and the mechanism cannot do; empty if nothing.
std::string missing(const HeadGroupPlan& group, const Place& place) {
  const AttentionTraits& traits = group.attention.traits;
  if (place.over_source && group.fittings.conv > 0)
    return "convolves its own sequence, not another (conv = 0)";
  if (group.attention.rows && !place.takes_rows)
    return core::message_of("has ", group.attention.rows->words(),
                            " as rows, which only a plain encoder has");
  if (!traits.padding) return "cannot leave padding out";
  if (place.over_source && !(traits.cross && traits.queries_alone && traits.bidirectional))
    return "cannot read another sequence query by query";
  if (place.causal && !traits.causal) return "reads later tokens and has no causal form";
  if (!place.causal && !traits.bidirectional)
    return "has a causal form only, and a source is read in both directions";
  return "";
}

void check(core::Fields& model, const Place& place, const std::vector<std::string>& names,
           const AttentionPlans& plans) {
  for (const std::string& name : names) {
    const auto plan = plans.find(name);
    if (plan == plans.end()) continue;
    for (const HeadGroupPlan& group : plan->second) {
      if (!group.attention.make) continue;
      const std::string lack = missing(group, place);
      if (lack.empty()) continue;
      model.problem(place.key,
                    core::message_of("\"", name, "\" ", lack, "; take another attention for model.",
                                     place.key, " (weft list attentions)"));
      break;
    }
  }
}

}  // namespace

void check_seq2seq(core::Fields& model, const ModelSettings& settings,
                   const AttentionPlans& plans) {
  const bool own = !settings.seq2seq.encoder_attention.empty();
  check(model,
        {.key = own ? "encoder_attention" : "attention",
         .causal = false,
         .takes_rows = !settings.reversible},
        settings.encoder_attention(), plans);
  check(model, {.key = "attention", .causal = true}, settings.attention, plans);
  if (!settings.reversible)
    check(model, {.key = "cross_attention", .causal = false, .over_source = true},
          {settings.seq2seq.cross_attention}, plans);
}

}  // namespace weft::layers
