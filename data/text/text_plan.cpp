#include "core/fields.h"
#include "data/plan.h"
#include "data/text/masked_text.h"
#include "data/text/text.h"

namespace weft::data {

/// data.kind = "text": a text whose next token is predicted, or one with hidden tokens.
DataPlan configure_text(core::Fields& fields, Index length) {
  TextSettings settings;
  settings.fields(fields);
  const DataTraits traits{.streams = settings.sampling == TextSettings::Sampling::streams,
                          .masks = settings.hidden.chosen()};
  return traits.masks ? plan_for_files<MaskedText>(settings, length, traits)
                      : plan_for_files<Text>(settings, length, traits);
}

}  // namespace weft::data
