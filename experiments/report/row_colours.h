#pragma once

#include <map>
#include <string>

#include "experiments/report/comparison.h"

namespace weft::experiments {

/// Every row has the same colour in every picture.
using RowColours = std::map<std::string, std::size_t>;
RowColours colours_of(const Comparison& comparison);

}  // namespace weft::experiments
