#include "layers/attention/spans/settings.h"

namespace weft::layers {

void SpanSettings::list_fixed(core::Fields& field) {
  field.integer("span", span,
                "most keys before a token that a head reads, without the token itself",
                core::between(1, 1 << 24));
  scores.fields(field);
  if (!scores.normaliser.is_softmax())
    field.problem("normaliser", "spans end softly, which only softmax can: softmax");
}

void SpanSettings::list_soft(core::Fields& field) {
  list_fixed(field);
  field.integer("ramp", ramp, "keys over which a head's reach fades out",
                core::between(1, 1 << 24));
  field.number("renorm_eps", renorm_eps,
               "added to the sum of faded weights, 1e-8 in the reference implementation; above 0 "
               "the whole span is scored, which saves no work",
               core::between(0, 1));
}

AttentionPlan SpanSettings::plan(AttentionMaker make, AttentionTraits traits) const {
  traits.bidirectional = false;
  traits.relative = traits.bf16 = traits.chunks = true;
  traits.reads_self = false;
  return {std::move(make), std::move(traits), span};
}

}  // namespace weft::layers
