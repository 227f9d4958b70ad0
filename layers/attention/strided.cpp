// The strided attention of the Sparse Transformer: the last `stride` keys, and every key a multiple
// of the stride back.
#include "core/error.h"
#include "layers/attention/pattern/attention.h"
#include "layers/attention/pattern/factorised.h"

namespace weft::layers {

AttentionPlan configure_strided(core::Fields& field, const AttentionSite& typical) {
  Factorised factorised;
  ScoreSettings scores;
  factorised.fields(field, typical);
  scores.list_first(field);
  scores.fields(field);
  const auto make = [=](const AttentionSite& site) {
    const Index stride = factorised.stride_at(site);
    std::vector<Pattern> patterns;
    for (Index head = 0; head < factorised.distinct(site); ++head)
      patterns.push_back(scores.with_first(factorised.of_head(
          site, head, band_pattern(stride - 1, 0), dilated_pattern(never, 0, stride))));
    return std::make_unique<PatternAttention>(site, std::move(patterns), scores);
  };
  const Index stride = factorised.stride_at(typical);
  return {make, scores.complete(
                    {.summary = "softmax over the last keys and every stride-th key before them",
                     .bidirectional = false,
                     .chunks = true,
                     .keys_per_token = core::message_of("at most ", stride, " + T / ", stride),
                     .decode_state = "every key and value"})};
}

}  // namespace weft::layers
