#pragma once

#include <functional>

#include "data/images/image_splits.h"
#include "data/plan.h"

namespace weft::data {

/// A plan of sequences of `length` over images that `make` gives when they are needed.
DataPlan plan_for_images(std::function<ImageSplits()> make, ImagesForm form, bool keeps_values,
                         Index length);

}  // namespace weft::data
