#include "layers/settings/chunks_check.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {
namespace {

bool reads_positions_of_chunks(PositionKind kind) {
  return kind == PositionKind::none || kind == PositionKind::learned ||
         kind == PositionKind::sinusoidal || kind == PositionKind::rotary;
}

/// Of the heads of one attention.
std::string why_not_in_chunks(const std::string& name, const std::vector<HeadGroupPlan>& groups) {
  const std::string attention = "attention \"" + name + "\" ";
  for (const HeadGroupPlan& group : groups) {
    if (!group.attention.make) continue;
    const AttentionTraits& traits = group.attention.traits;
    if (traits.carries_state)
      return attention + "is a recurrence, whose state does not go from chunk to chunk yet";
    if (!traits.chunks)
      return attention +
             "reads no further than its own chunk yet: take another, of which weft list KIND "
             "says that it can be trained in chunks";
    if (group.fittings.conv > 0)
      return attention + "has a convolution, which would begin anew in every chunk: conv = 0";
    if (group.projection.sparse())
      return attention +
             "has sparse projections, which would begin anew in every chunk: "
             "projection = \"dense\"";
  }
  return "";
}

}  // namespace

std::string why_not_in_chunks(const ModelSettings& settings, const AttentionPlans& plans) {
  if (settings.task != Task::language)
    return "only language models read chunks of a sequence: model.task = \"language\"";
  if (!settings.causal) return "a chunk reads only what comes before it: model.causal = true";
  if (settings.is_star()) return "a star reads whole sequences: model.trunk = \"transformer\"";
  if (settings.universal.chosen())
    return "layers that run several times do not read chunks yet: model.steps = 0";
  if (settings.segment_memory)
    return "streams with a memory are not cut as well: model.segment_memory = false";
  if (settings.images) return "images are not cut into chunks yet";
  if (settings.norm == NormKind::batch)
    return "batch norm takes statistics over whole sequences: model.norm = \"layer\" or \"rms\"";
  if (!std::ranges::all_of(settings.feedforward,
                           [](FeedForwardKind kind) { return kind == FeedForwardKind::dense; }))
    return "only dense feed-forwards read chunks yet: model.feedforward = \"dense\"";
  if (!reads_positions_of_chunks(settings.positions))
    return core::message_of(position_name(settings.positions),
                            " positions do not reach over chunks yet: model.positions = \"none\", "
                            "\"learned\", \"sinusoidal\" or \"rotary\"");
  for (const std::string& name : settings.attention_names()) {
    const auto groups = plans.find(name);
    if (groups == plans.end()) continue;
    if (const std::string why = why_not_in_chunks(name, groups->second); !why.empty()) return why;
  }
  return "";
}

}  // namespace weft::layers
