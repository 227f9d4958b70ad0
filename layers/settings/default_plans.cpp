#include "layers/settings/default_plans.h"

#include "core/fields.h"

namespace weft::layers {

AttentionPlans default_plans(const ModelSettings& settings, Index length) {
  AttentionPlans plans;
  for (const std::string& name : settings.attention_names()) {
    core::DefaultFields defaults;
    plans[name] = read_attention(defaults, name, settings.site(length));
  }
  return plans;
}

}  // namespace weft::layers
