#pragma once

#include <string>

#include "layers/settings/attention_plans.h"

namespace weft::layers {

/// Why the sequences of such a model cannot be cut into chunks of columns; empty if they can.
std::string why_not_in_chunks(const ModelSettings& settings, const AttentionPlans& plans);

}  // namespace weft::layers
