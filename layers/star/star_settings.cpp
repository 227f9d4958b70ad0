#include "layers/star/star_settings.h"

namespace weft::layers {

void StarSettings::fields(core::Fields& field) {
  field.choice("star_ring", ring,
               "neighbours of the first and the last token: open, none beyond them; cyclic, each "
               "other; zero, a key and a value of zeros",
               {{"open", StarRing::open}, {"cyclic", StarRing::cyclic}, {"zero", StarRing::zero}});
  field.choice("star_norm", norm,
               "post: a norm after each update; reference: norms before the ring's projections "
               "only, and a leaky relu",
               {{"post", StarNorm::post}, {"reference", StarNorm::reference}});
  field.flag("star_tie", tie, "all cycles share their weights");
}

}  // namespace weft::layers
