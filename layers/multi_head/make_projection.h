#pragma once

#include "layers/multi_head/head_projection.h"

namespace weft::layers {

/// For a group of `heads` heads and `columns` = H D columns a projection, over W columns of input.
std::unique_ptr<HeadProjection> make_projection(const ProjectionSettings& settings,
                                                const std::vector<Projection>& projections,
                                                Index width, Index heads, Index columns, Init in);

}  // namespace weft::layers
