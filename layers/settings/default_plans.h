#pragma once

#include "layers/settings/attention_plans.h"

namespace weft::layers {

/// What each name in settings.attention is without a config: the kind of that name with its
/// defaults, in sequences of up to `length` tokens.
AttentionPlans default_plans(const ModelSettings& settings, Index length);

}  // namespace weft::layers
