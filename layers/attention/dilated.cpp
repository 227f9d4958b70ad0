// A sliding window with gaps: every `dilation`-th key, so that few keys reach far.
#include "core/error.h"
#include "layers/attention/pattern/attention.h"
#include "layers/attention/pattern/window.h"

namespace weft::layers {

AttentionPlan configure_dilated(core::Fields& field, const AttentionSite& typical) {
  Index window = 64, dilation = 4;
  ScoreSettings scores;
  field.integer("window", window, "keys that a token reads, itself included", core::at_least(1));
  field.integer("dilation", dilation, "distance from one of these keys to the next",
                core::at_least(1));
  scores.list_first(field);
  scores.fields(field);
  check_distance_fits(field, "dilation", dilation, typical);
  const auto make = [=](const AttentionSite& site) {
    return std::make_unique<PatternAttention>(
        site, std::vector<Pattern>{scores.with_first(window_pattern(site, window, dilation))},
        scores);
  };
  return {make,
          scores.complete(
              {.summary = "softmax over a sliding window with gaps",
               .chunks = true,
               .keys_per_token = core::message_of("at most ", window, ", ", dilation, " apart"),
               .decode_state = core::message_of("the last ", (window - 1) * dilation + 1,
                                                " keys and values")})};
}

}  // namespace weft::layers
