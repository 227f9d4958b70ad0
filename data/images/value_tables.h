#pragma once

#include "data/images/image_splits.h"

namespace weft::data {

/// What tables of counts give for images, without any model, in bits per value of a split: how
/// often each value came in training, one added to every count, given
///   values:       nothing
///   each place:   the place in the image
///   left and up:  the values to the left and above, and in coloured images that of the channel
///                 before, all in 32 levels and 0 outside the image
std::vector<BitsBaseline> table_baselines(const ImageSplits& images, Split split);

}  // namespace weft::data
