#include "experiments/report/tuning_table.h"

#include <cmath>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

std::string fate_of(const SweepRecord& sweep, const TunedCandidate& candidate) {
  if (candidate.chosen) return "chosen";
  if (candidate.diverged) return "diverged";
  if (candidate.undecided) return "undecided";
  for (const double loss : candidate.losses)
    if (!std::isfinite(loss)) return "not finished";
  const bool is_last = candidate.losses.size() == sweep.plan.rungs.size();
  return (is_last ? "not chosen in rung " : "dropped after rung ") +
         std::to_string(candidate.losses.size());
}

}  // namespace

Table tuning_table(const SweepRecord& sweep, const Comparison& comparison,
                   const ComparedTask& task) {
  Table table{task.name + ": what each tried", {comparison.by, "candidate"}, {}, {}};
  for (std::size_t i = 0; i < sweep.plan.rungs.size(); ++i)
    table.header.push_back("rung " + std::to_string(i + 1) + " (" +
                           format_fixed(100 * sweep.plan.rungs[i].share, 0) + " %)");
  table.header.push_back("outcome");
  bool any_open = false;
  for (const ComparedRow& row : task.rows)
    for (const TunedCandidate& candidate : row.candidates) {
      std::vector<std::string> cells{row.name, candidate.settings};
      for (std::size_t i = 0; i < sweep.plan.rungs.size(); ++i)
        cells.push_back(i < candidate.losses.size() ? format_fixed(candidate.losses[i], 4) : "");
      cells.push_back(fate_of(sweep, candidate) + (candidate.undecided ? " *" : ""));
      any_open = any_open || candidate.undecided;
      table.rows.push_back(std::move(cells));
    }
  table.remarks.push_back(
      "Validation loss in nats at the end of runs with a share of the budget, each with a schedule "
      "of its own and the first seed. The best of a rung went on to the next; the best of the last "
      "then trained all seeds with the whole budget.");
  if (any_open) table.remarks.push_back("* can still change: its rung has not ended.");
  return table;
}

Table tuning_values(const SweepRecord& sweep, const Comparison& comparison) {
  Table table{
      "", {"task", "name", "candidate", "rung", "share", "loss", "outcome", "can_change"}, {}, {}};
  for (const ComparedTask& task : comparison.tasks)
    for (const ComparedRow& row : task.rows)
      for (const TunedCandidate& candidate : row.candidates)
        for (std::size_t i = 0; i < candidate.losses.size() && i < sweep.plan.rungs.size(); ++i)
          table.rows.push_back(
              {task.name, row.name, candidate.settings, std::to_string(i + 1),
               format_exact(sweep.plan.rungs[i].share),
               std::isfinite(candidate.losses[i]) ? format_exact(candidate.losses[i]) : "",
               fate_of(sweep, candidate), candidate.undecided ? "yes" : "no"});
  return table;
}

}  // namespace weft::experiments
