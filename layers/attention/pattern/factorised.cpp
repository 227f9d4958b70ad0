#include "layers/attention/pattern/factorised.h"

#include <algorithm>
#include <cmath>

#include "layers/attention/pattern/window.h"

namespace weft::layers {

void Factorised::fields(core::Fields& field, const AttentionSite& typical) {
  field.integer("stride", stride,
                "length of a stride; 0: the row of an image, and in other sequences the square "
                "root of the length",
                core::at_least(0));
  field.choice("heads_use", heads_use,
               "every head reads both sets of keys, half the heads each, or layers take turns",
               {{"merged", HeadsUse::merged},
                {"separate", HeadsUse::separate},
                {"interleaved", HeadsUse::interleaved}});
  check_distance_fits(field, "stride", stride, typical);
  if (heads_use == HeadsUse::separate && typical.heads < 2)
    field.problem("heads_use", "separate needs two heads or more");
}

Index Factorised::stride_at(const AttentionSite& site) const {
  if (stride > 0) return stride;
  if (site.row > 0) return site.row;
  return std::max<Index>(1, std::llround(std::sqrt(double(site.length))));
}

Pattern Factorised::of_head(const AttentionSite& site, Index head, Pattern near,
                            const Pattern& far) const {
  if (heads_use == HeadsUse::merged) return united(std::move(near), far);
  const bool first =
      heads_use == HeadsUse::separate ? head < (site.heads + 1) / 2 : site.layer % 2 == 0;
  return first ? near : far;
}

}  // namespace weft::layers
