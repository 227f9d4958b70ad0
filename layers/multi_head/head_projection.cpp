#include "layers/multi_head/head_projection.h"

#include "core/error.h"

namespace weft::layers {

void ProjectionSettings::fields(core::Fields& field) {
  field.choice("projection", kind,
               "how queries, keys and values are made: dense matrices and an output layer, or "
               "sparse: one multiplicative layer, a convolution each, no output layer",
               {{"dense", Density::dense}, {"sparse", Density::sparse}});
  field.when("projection", {"sparse"}, [&] {
    field.integer("modules", modules, "modules of the sparse projection (S); 0: as many as heads",
                  core::between(0, 65536));
    field.integer("conv_length", taps, "width of each of its convolutions, in tokens",
                  core::between(1, 1024));
  });
}

std::string ProjectionSettings::why_unfit(Index heads, Index columns) const {
  if (!sparse() || columns % std::max<Index>(modules_of(heads), 1) == 0) return "";
  return core::message_of(columns, " columns of ", heads, " heads are not ", modules_of(heads),
                          " modules of one width");
}

}  // namespace weft::layers
