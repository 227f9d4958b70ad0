#pragma once

#include <functional>
#include <string>

#include "layers/attention/contract/key_weights.h"
#include "layers/settings/attention_plans.h"

namespace weft::layers {

/// What the heads of one group of one layer read in one call.
struct Observation {
  std::string name;  ///< of the plan: NAME of [attention.NAME]
  AttentionSite site;
  Sequences sequences;
  Tensor weights;             ///< see key_weights, [B, H, queries, keys]
  TokenGroups groups;         ///< empty where the mechanism has none
  std::vector<double> spans;  ///< how far back each head reads, where that is a number
};

/// The same plans, whose mechanisms report what they read to `observe` when they run on whole
/// sequences, in the order in which they run. Models made of them have the same parameters and the
/// same outputs; only they pay for it.
AttentionPlans observed_plans(const AttentionPlans& plans,
                              const std::function<void(const Observation&)>& observe);

}  // namespace weft::layers
