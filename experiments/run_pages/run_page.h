#pragma once

#include <string>
#include <vector>

#include "experiments/run_pages/run_record.h"

namespace weft::experiments {

/// What is shown of one run, or of several side by side, as markup inside a page: how far each has
/// come, charts, samples over time, and settings (those that differ, of several).
std::string run_body(const std::vector<RunRecord>& runs);

/// Its charts and samples alone.
std::string run_figures(const std::vector<RunRecord>& runs);

/// The whole page: one file that needs nothing else.
std::string run_page(const std::vector<RunRecord>& runs);

/// The lowest validation loss of a run; NaN before its first.
double best_validation(const RunRecord& run);

}  // namespace weft::experiments
