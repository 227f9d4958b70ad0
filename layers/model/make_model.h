#pragma once

#include "layers/model/model.h"
#include "layers/settings/attention_plans.h"

namespace weft::layers {

/// The model that `settings.task` names.
std::unique_ptr<Model> make_model(const ModelSettings& settings, const AttentionPlans& plans,
                                  const ModelShape& shape, bool recompute = false);

}  // namespace weft::layers
