#include "experiments/evaluate/by_length.h"

#include "experiments/console/columns.h"
#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// One row for each tenth of a sequence, one column for each length.
Rows depth_rows(const std::vector<LengthEvaluation>& evaluations) {
  Rows rows{{"depth"}};
  for (std::size_t tenth = 0; tenth < evaluations[0].evaluation.by_depth.size(); ++tenth) {
    const Band& band = evaluations[0].evaluation.by_depth[tenth];
    rows.push_back({std::to_string(band.from) + "-" + std::to_string(band.to) + " %"});
  }
  for (const LengthEvaluation& each : evaluations) {
    rows[0].push_back(std::to_string(each.length));
    for (std::size_t tenth = 0; tenth + 1 < rows.size(); ++tenth) {
      const Band& band = each.evaluation.by_depth[tenth];
      rows[tenth + 1].push_back(band.tokens > 0 ? format_fixed(band.accuracy(), 3) : "-");
    }
  }
  return rows;
}

}  // namespace

std::string print_by_length(const std::vector<LengthEvaluation>& evaluations) {
  Rows rows{{"length", "bits", "accuracy", "whole sequences", "scored tokens"}};
  for (const auto& [length, e] : evaluations)
    rows.push_back({std::to_string(length), format_fixed(e.bits(), 4),
                    format_fixed(e.accuracy(), 4), format_fixed(e.sequence_accuracy(), 3),
                    std::to_string(e.tokens)});
  std::string text = format_columns(rows, 60);
  if (!evaluations.empty() && !evaluations[0].evaluation.by_depth.empty())
    text += "whole answers by depth and length\n" + format_columns(depth_rows(evaluations), 60);
  return text;
}

}  // namespace weft::experiments
