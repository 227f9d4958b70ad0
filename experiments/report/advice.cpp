#include "experiments/report/advice.h"

#include <algorithm>
#include <cmath>

#include "experiments/console/number_text.h"
#include "experiments/report/contrast.h"
#include "experiments/report/score_text.h"

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

/// What the best row is to the others, by their names.
struct Lead {
  std::vector<std::string> beaten, ties, same, open;
  std::vector<const ComparedRow*> near;  ///< that it does not beat

  Lead(const std::vector<const ComparedRow*>& rows, const std::string& metric) {
    using Finding = Contrast::Finding;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const Contrast contrast = contrast_of(*rows.front(), *rows[i], metric);
      const std::string& name = rows[i]->name;
      if (contrast.finding == Finding::better) {
        beaten.push_back(name);
        continue;
      }
      near.push_back(rows[i]);
      if (contrast.finding == Finding::tie)
        ties.push_back(name);
      else if (contrast.finding == Finding::same)
        same.push_back(name);
      else
        open.push_back(name + (contrast.finding == Finding::unmeasured ? " (one seed)"
                               : contrast.enough ? " (" + std::to_string(*contrast.enough) +
                                                       " seeds would decide)"
                                                 : " (1,000 seeds would not decide)"));
    }
  }
};

/// The verdict, and what the best row leads by more than seeds explain.
std::vector<std::string> verdict_of(const std::string& best, const Lead& lead, bool moving) {
  std::vector<std::string> said;
  const std::size_t others = lead.beaten.size() + lead.near.size();
  if (lead.near.empty()) {
    said.push_back((moving ? "Best so far: " : "Best: ") + best + ".");
    if (others > 0)
      said.push_back(
          "Its lead over " +
          (others > 1 ? "each of the " + std::to_string(others) + " others" : lead.beaten.front()) +
          " is more than seeds explain.");
    return said;
  }
  const std::string ahead = (moving ? "ahead so far is " : "ahead is ") + best;
  if (lead.open.empty())
    said.push_back("A tie: " + ahead + ".");
  else
    said.push_back("Undecided: " + ahead + ", but seeds may explain its lead over " +
                   list_of(lead.open) + ".");
  if (!lead.ties.empty()) said.push_back("Ties with it: " + list_of(lead.ties) + ".");
  if (!lead.same.empty()) said.push_back("The same computation: " + list_of(lead.same) + ".");
  if (!lead.beaten.empty())
    said.push_back("More than seeds explain: its lead over " + list_of(lead.beaten) + ".");
  return said;
}

}  // namespace

std::vector<std::string> advice_of(const ComparedTask& task) {
  const std::string& metric = task.metrics.front();
  const std::vector<const ComparedRow*> honest = competitors(task, metric);
  if (honest.empty()) return {"No trial of this task has a result yet."};
  const ComparedRow& best = *honest.front();
  const bool moving = std::ranges::any_of(task.rows, &ComparedRow::moving);
  const Lead lead(honest, metric);
  std::vector<std::string> advice =
      verdict_of(best.name + ", " + format_score(metric, best.scores.at(metric)) + " " +
                     (metric == "bits" ? "bits per " + task.unit : metric),
                 lead, moving);
  std::vector<const ComparedRow*> near = lead.near;
  near.push_back(&best);
  const auto* fastest = first_by(near, [](const ComparedRow& r) { return -r.tokens_per_s.mean; });
  if (fastest && fastest != &best)
    advice.push_back("Not behind it by more than seeds explain, and " +
                     times(fastest->tokens_per_s.mean / best.tokens_per_s.mean) +
                     " as fast: " + fastest->name + ".");
  else if (fastest && near.size() > 1)
    advice.push_back("It is also the fastest of those that it does not beat.");
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
