#include "experiments/report/advice.h"

#include <algorithm>
#include <cmath>

#include "experiments/console/number_text.h"
#include "experiments/report/result_tables.h"

namespace weft::experiments {
namespace {

/// A share of the memory above this is as good as all of it.
constexpr double worth_saying = 0.95;

std::string times(double ratio) { return format_fixed(ratio, 2) + " times"; }

/// The first of `rows` by `value`, or none.
const ComparedRow* first_by(const std::vector<const ComparedRow*>& rows,
                            double (*value)(const ComparedRow&)) {
  const ComparedRow* best = nullptr;
  for (const ComparedRow* row : rows)
    if (std::isfinite(value(*row)) && (!best || value(*row) < value(*best))) best = row;
  return best;
}

}  // namespace

std::vector<std::string> advice_of(const ComparedTask& task) {
  const std::string& metric = task.metrics.front();
  const double sign = lower_is_better(metric) ? 1 : -1;
  std::vector<const ComparedRow*> honest;  // best first, as the task has them
  for (const ComparedRow& row : task.rows)
    if (!row.leaks && row.scores.contains(metric)) honest.push_back(&row);
  if (honest.empty()) return {"No trial of this task has a result yet."};
  const ComparedRow& best = *honest.front();
  const Statistic& top = best.scores.at(metric);
  const bool moving = std::ranges::any_of(task.rows, &ComparedRow::moving);
  std::vector<std::string> advice{(moving ? "Best so far: " : "Best: ") + best.name + ", " +
                                  format_score(metric, top) + " " +
                                  (metric == "bits" ? "bits per " + task.unit : metric) + "."};
  const double reach = std::isfinite(top.deviation) ? top.deviation : 0;
  std::vector<const ComparedRow*> near;
  for (const ComparedRow* row : honest)
    if (sign * (row->scores.at(metric).mean - top.mean) <= reach) near.push_back(row);
  const auto* fastest = first_by(near, [](const ComparedRow& r) { return -r.tokens_per_s.mean; });
  if (fastest && fastest != &best)
    advice.push_back("Within one standard deviation of it and " +
                     times(fastest->tokens_per_s.mean / best.tokens_per_s.mean) +
                     " as fast: " + fastest->name + ".");
  else if (fastest && near.size() > 1)
    advice.push_back("It is also the fastest of those within one standard deviation.");
  const auto* quick = first_by(honest, [](const ComparedRow& r) { return -r.tokens_per_s.mean; });
  if (quick && quick != fastest)
    advice.push_back("Fastest of all: " + quick->name + ", " +
                     times(quick->tokens_per_s.mean / best.tokens_per_s.mean) + " as fast, " +
                     format_score(metric, quick->scores.at(metric)) + ".");
  const auto* light = first_by(honest, [](const ComparedRow& r) { return r.peak_bytes.mean; });
  if (light && light->peak_bytes.mean < worth_saying * best.peak_bytes.mean)
    advice.push_back("Least memory: " + light->name + ", " +
                     times(light->peak_bytes.mean / best.peak_bytes.mean) + " that of the best.");
  return advice;
}

}  // namespace weft::experiments
