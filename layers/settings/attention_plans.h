#pragma once

#include <map>
#include <string>
#include <vector>

#include "layers/multi_head/multi_head.h"
#include "layers/settings/model_settings.h"

namespace weft::layers {

/// The head groups of every name that the model uses.
using AttentionPlans = std::map<std::string, std::vector<HeadGroupPlan>>;

/// Reads the table [attention.NAME]: `kind` (NAME itself unless given) with that mechanism's
/// settings, or `groups`, a list of such tables with a number of heads each.
std::vector<HeadGroupPlan> read_attention(core::Fields& field, const std::string& name,
                                          const AttentionSite& site);

/// Reports a mechanism among `groups` that cannot use the model's positions.
void check_positions(core::Fields& model, const ModelSettings& settings, const std::string& name,
                     const std::vector<HeadGroupPlan>& groups);

/// Why a layer at this site cannot use these head groups; empty when it can.
std::string why_unfit(const std::vector<HeadGroupPlan>& groups, const AttentionSite& site);

/// Whether any of the head groups can read a past that is carried over segments.
bool carries_past(const std::vector<HeadGroupPlan>& groups);

/// Whether all of the head groups leave out keys that are padding.
bool takes_padding(const std::vector<HeadGroupPlan>& groups);

/// The rule by which the layers of these names spread tokens over rows, null where rows are tokens;
/// and why they cannot be in one model, empty when they can.
struct CommonRows {
  std::shared_ptr<const RowRule> rule;
  std::string problem = {};
};
CommonRows common_rows(const std::vector<std::string>& names, const AttentionPlans& plans);

/// Reports what cannot be combined with rows that are not tokens, and attentions of one model whose
/// rows differ.
void check_rows(core::Fields& model, const ModelSettings& settings, const AttentionPlans& plans);

/// Whether all of the head groups have a row that represents the whole sequence.
bool has_root(const std::vector<HeadGroupPlan>& groups);

/// Whether any of the head groups lets later tokens choose what earlier ones read.
bool leaks(const std::vector<HeadGroupPlan>& groups);

/// Whether the products of all of the head groups follow train.precision.
bool knows_bf16(const std::vector<HeadGroupPlan>& groups);

}  // namespace weft::layers
