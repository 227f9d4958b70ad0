// Softmax attention over every readable key: out_i = sum_j softmax_j(scale q_i . k_j) v_j, the
// pattern that leaves nothing out.
#include "layers/attention/pattern/attention.h"

namespace weft::layers {

AttentionPlan configure_dense(core::Fields& field, const AttentionSite&) {
  ScoreSettings scores;
  scores.fields(field);
  const auto make = [scores](const AttentionSite& site) {
    return std::make_unique<PatternAttention>(site, std::vector<Pattern>{full_pattern()}, scores);
  };
  return {make, scores.complete({.summary = "softmax over every earlier key",
                                 .queries_alone = true,
                                 .chunks = true,
                                 .keys_per_token = "all before it",
                                 .decode_state = "every key and value"})};
}

}  // namespace weft::layers
