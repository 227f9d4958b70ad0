#include "layers/multi_head/make_projection.h"

#include "core/error.h"
#include "layers/multi_head/dense_projection.h"
#include "layers/multi_head/sparse_projection.h"

namespace weft::layers {

std::unique_ptr<HeadProjection> make_projection(const ProjectionSettings& settings,
                                                const std::vector<Projection>& projections,
                                                Index width, Index heads, Index columns, Init in) {
  if (!settings.sparse())
    return std::make_unique<DenseProjection>(width, Index(projections.size()), columns, in);
  const std::string unfit = settings.why_unfit(heads, columns);
  core::require(unfit.empty(), "sparse projection: ", unfit);
  return std::make_unique<SparseProjection>(projections, width, settings.modules_of(heads), columns,
                                            settings.taps);
}

}  // namespace weft::layers
