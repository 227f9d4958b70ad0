// Attention to a fixed number of keys before the token, itself left out: the baseline of the
// adaptive spans.
#include "layers/attention/spans/attention.h"

namespace weft::layers {

AttentionMaker configure_fixed_span(core::Fields& field, const AttentionSite&) {
  SpanSettings settings;
  settings.list_fixed(field);
  const std::string span = std::to_string(settings.span);
  const AttentionTraits traits{
      .summary = "softmax over a fixed span before the token, carried over segments",
      .keys_per_token = "at most " + span,
      .decode_state = "the last " + span + " keys and values"};
  return [settings, traits](const AttentionSite& site) {
    return std::make_unique<SpanAttention>(settings, site, traits, std::make_unique<SpanRule>());
  };
}

}  // namespace weft::layers
