// Softmax attention over every readable key: out_i = sum_j softmax_j(scale q_i . k_j) v_j, the
// pattern that leaves nothing out.
#include "layers/attention/pattern/attention.h"

namespace weft::layers {

AttentionMaker configure_dense(core::Fields& field, const AttentionSite&) {
  ScoreSettings scores;
  scores.fields(field);
  return [scores](const AttentionSite& site) {
    const AttentionTraits traits{.summary = "softmax over every earlier key",
                                 .queries_alone = true,
                                 .keys_per_token = "all before it",
                                 .decode_state = "every key and value"};
    return std::make_unique<PatternAttention>(site, traits, std::vector<Pattern>{full_pattern()},
                                              scores);
  };
}

}  // namespace weft::layers
