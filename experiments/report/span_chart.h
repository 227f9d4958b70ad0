#pragma once

#include "experiments/draw/chart.h"
#include "experiments/report/row_colours.h"

namespace weft::experiments {

/// How far back the heads of each layer read when training ends, for the rows that report it: a
/// mark for each head, from the shortest span of its layer to the longest, mean and deviation over
/// seeds. Heads are ordered since head 3 of one seed has nothing to do with head 3 of another.
Chart span_chart(const ComparedTask& task, const RowColours& colours);

}  // namespace weft::experiments
