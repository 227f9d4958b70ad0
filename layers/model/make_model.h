#pragma once

#include "layers/model/model.h"
#include "layers/settings/attention_plans.h"
#include "layers/settings/recomputation.h"

namespace weft::layers {

/// The model that `settings.task` names.
std::unique_ptr<Model> make_model(const ModelSettings& settings, const AttentionPlans& plans,
                                  const ModelShape& shape, Recomputation recompute = {});

}  // namespace weft::layers
