// Random attention: the token's own block and a few blocks drawn once.
#include "core/error.h"
#include "layers/attention/drawn/attention.h"

namespace weft::layers {

AttentionPlan configure_random(core::Fields& field, const AttentionSite& typical) {
  DrawnBlocks::Settings drawn;
  ScoreSettings scores;
  drawn.fields(field, "blocks", typical);
  scores.list_first(field);
  scores.fields(field);
  const auto make = [=](const AttentionSite& site) {
    return std::make_unique<DrawnAttention>(
        site, scores.with_first(block_local_pattern(drawn.block)), drawn, scores);
  };
  return {make,
          scores.complete(
              {.summary = "softmax over the token's own block and blocks drawn once",
               .keys_per_token = core::message_of("at most ", (1 + drawn.count) * drawn.block),
               .decode_state = "each key and value until its last reader"})};
}

}  // namespace weft::layers
