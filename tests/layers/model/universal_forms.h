#pragma once

#include "tests/layers/model/sample_model.h"

namespace weft::layers::universal_forms {

inline ModelSettings universal(Index steps, Index layers = 1) {
  ModelSettings settings = small_settings();
  settings.layers = layers;
  settings.positions = PositionKind::sinusoidal;
  settings.universal.steps = steps;
  return settings;
}

inline ModelSettings acting(Index steps, bool freeze = true,
                            HaltCombine combine = HaltCombine::accumulate, Index layers = 1) {
  ModelSettings settings = universal(steps, layers);
  settings.universal.halting = Halting::act;
  settings.universal.price = 0.1;
  settings.universal.freeze = freeze;
  settings.universal.combine = combine;
  return settings;
}

struct Form {
  std::string name;
  ModelSettings settings;
};

inline std::vector<Form> forms() {
  std::vector<Form> all = {{"fixed", universal(3)},
                           {"two layers", universal(2, 2)},
                           {"act", acting(4)},
                           {"act, two layers", acting(3, true, HaltCombine::accumulate, 2)},
                           {"act, not frozen", acting(4, false)},
                           {"act, mixed", acting(4, true, HaltCombine::mix)},
                           {"learned", universal(3)},
                           {"rotary, post", acting(3)},
                           {"reversible", universal(3, 2)},
                           {"concatenated", universal(2)}};
  all[6].settings.positions = PositionKind::learned;
  all[7].settings.positions = PositionKind::rotary;
  all[7].settings.norm_place = NormPlace::post;
  all[8].settings.reversible = true;
  all[9].settings.reversible = true;
  all[9].settings.reversible_output = StreamOutput::concat;
  all[9].settings.tie = false;
  return all;
}

}  // namespace weft::layers::universal_forms
