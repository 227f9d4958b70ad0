// A few tokens that everyone reads and that read everyone, and a window. In causal use a global
// token still sees only its past, so that it serves the tokens after it as a place to look.
#include "core/error.h"
#include "layers/attention/pattern/attention.h"
#include "layers/attention/pattern/global_tokens.h"
#include "layers/attention/pattern/window.h"

namespace weft::layers {

AttentionPlan configure_global(core::Fields& field, const AttentionSite& typical) {
  std::vector<Index> positions = {0};
  GlobalMode mode = GlobalMode::both;
  Index window = 1;
  ScoreSettings scores;
  read_global_positions(field, positions, typical);
  read_global_mode(field, mode);
  field.integer("window", window, "keys of the window that every token reads too, itself included",
                core::at_least(1));
  scores.list_first(field);
  scores.fields(field);
  const auto make = [=](const AttentionSite& site) {
    return std::make_unique<PatternAttention>(
        site,
        std::vector<Pattern>{scores.with_first(
            united(global_pattern(positions, mode), window_pattern(site, window)))},
        scores);
  };
  return {make,
          scores.complete(
              {.summary = "softmax over a few global tokens and a window",
               .chunks = true,
               .keys_per_token = core::message_of("at most ", Index(positions.size()) + window,
                                                  "; a global token all before it"),
               .decode_state = mode == GlobalMode::columns
                                   ? "keys and values of global tokens and window"
                                   : "every key and value up to the last global token, then "
                                     "those of global tokens and window"})};
}

}  // namespace weft::layers
