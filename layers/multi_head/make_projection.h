#pragma once

#include "layers/multi_head/head_projection.h"

namespace weft::layers {

/// For a group of `heads` heads of `head_width` columns, over W columns of input.
std::unique_ptr<HeadProjection> make_projection(const ProjectionSettings& settings,
                                                const std::vector<Projection>& projections,
                                                Index width, Index heads, Index head_width,
                                                Init in);

}  // namespace weft::layers
