// Attention to a fixed number of keys before the token, itself left out: the baseline of the
// adaptive spans.
#include "layers/attention/spans/attention.h"

namespace weft::layers {

AttentionPlan configure_fixed_span(core::Fields& field, const AttentionSite&) {
  SpanSettings settings;
  settings.list_fixed(field);
  const std::string span = std::to_string(settings.span);
  AttentionTraits traits{
      .summary = "softmax over a fixed span before the token, carried over segments",
      .keys_per_token = "at most " + span,
      .decode_state = "the last " + span + " keys and values"};
  const auto make = [settings](const AttentionSite& site) {
    return std::make_unique<SpanAttention>(settings, site, std::make_unique<SpanRule>());
  };
  return settings.plan(make, std::move(traits));
}

}  // namespace weft::layers
