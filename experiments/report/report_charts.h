#pragma once

#include <string>
#include <vector>

#include "experiments/draw/chart.h"
#include "experiments/report/comparison.h"
#include "experiments/report/row_colours.h"

namespace weft::experiments {

/// Learning curves; quality against speed, memory and arithmetic; recall by distance;
/// spans by layer and head; what mechanisms report of themselves. Only those for which there is
/// data.
std::vector<ChartFigure> charts_of(const ComparedTask& task, const RowColours& colours);

/// Time and memory of a sequence against its length, over tasks of the same data at two lengths or
/// more, with the fitted exponents in the names.
std::vector<ChartFigure> length_charts(const Comparison& comparison, const RowColours& colours);

}  // namespace weft::experiments
