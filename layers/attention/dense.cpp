// Softmax attention over every readable key: out_i = sum_j softmax_j(scale q_i . k_j) v_j, the
// pattern that leaves nothing out.
#include "core/fields.h"
#include "layers/attention/pattern/pattern_attention.h"

namespace weft::layers {

AttentionMaker configure_dense(core::Fields& field, const AttentionSite&) {
  double scale = 0;
  field.number("scale", scale, "factor of the scores; 0 stands for 1 / sqrt(head width)",
               core::at_least(0));
  return [scale](const AttentionSite& site) {
    const AttentionTraits traits{.summary = "softmax over every earlier key",
                                 .keys_per_token = "all before it",
                                 .decode_state = "every key and value"};
    return std::make_unique<PatternAttention>(site, traits, std::vector<Pattern>{full_pattern()},
                                              scale);
  };
}

}  // namespace weft::layers
