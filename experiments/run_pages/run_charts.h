#pragma once

#include <string>
#include <vector>

#include "experiments/draw/chart.h"
#include "experiments/run_pages/run_record.h"

namespace weft::experiments {

/// Loss in training and validation, other scores, learning rate, gradient norm, speed, memory,
/// recall by distance, spans, and what mechanisms report of themselves; only those for which there
/// is data. One run has a line for each kind, several have a line for each run.
std::vector<ChartFigure> run_charts(const std::vector<RunRecord>& runs);

/// At most `most` points: each the mean of neighbours, with their deviation.
Curve thinned(const Curve& curve, std::size_t most, std::vector<double>* deviations = nullptr);

}  // namespace weft::experiments
