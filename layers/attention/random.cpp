// Random attention: the token's own block and a few blocks drawn once.
#include "core/error.h"
#include "layers/attention/pattern/drawn_attention.h"

namespace weft::layers {

AttentionMaker configure_random(core::Fields& field, const AttentionSite& typical) {
  DrawnBlocks::Settings drawn;
  ScoreSettings scores;
  drawn.fields(field, "blocks", typical);
  scores.fields(field);
  return [=](const AttentionSite& site) {
    const AttentionTraits traits{
        .summary = "softmax over the own block and blocks drawn once",
        .keys_per_token = core::message_of("at most ", (1 + drawn.count) * drawn.block),
        .decode_state = "each key and value until its last reader"};
    return std::make_unique<DrawnAttention>(site, traits, block_local_pattern(drawn.block), drawn,
                                            scores);
  };
}

}  // namespace weft::layers
