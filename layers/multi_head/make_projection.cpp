#include "layers/multi_head/make_projection.h"

#include "core/error.h"
#include "layers/multi_head/dense_projection.h"
#include "layers/multi_head/sparse_projection.h"

namespace weft::layers {

std::unique_ptr<HeadProjection> make_projection(const ProjectionSettings& settings,
                                                const std::vector<Projection>& projections,
                                                Index width, Index heads, Index head_width,
                                                Init in) {
  std::vector<Index> widths;
  for (const Projection& projection : projections)
    widths.push_back(projection.columns(heads, head_width));
  if (!settings.sparse()) return std::make_unique<DenseProjection>(width, widths, in);
  const Index columns = heads * head_width;
  for (const Index own : widths)
    core::require(own == columns, "sparse projection: all projections have ", columns,
                  " columns, not ", own, "; set projection = \"dense\"");
  const std::string unfit = settings.why_unfit(heads, columns);
  core::require(unfit.empty(), "sparse projection: ", unfit);
  return std::make_unique<SparseProjection>(projections, width, settings.modules_of(heads), columns,
                                            settings.taps);
}

}  // namespace weft::layers
