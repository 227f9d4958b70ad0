#include "layers/attention/pattern/window.h"

#include "core/error.h"

namespace weft::layers {

Pattern window_pattern(const AttentionSite& site, Index window, Index dilation) {
  if (site.causal) return dilated_pattern(window - 1, 0, dilation);
  return dilated_pattern(window / 2, (window - 1) / 2, dilation);
}

void check_distance_fits(core::Fields& field, std::string_view key, Index distance,
                         const AttentionSite& site) {
  if (distance > 1 && distance >= site.length)
    field.problem(key, core::message_of(distance, " never reaches another key in sequences of ",
                                        site.length, " tokens; take less than the length"));
}

}  // namespace weft::layers
