#include "experiments/report/contrast.h"

#include <algorithm>
#include <cmath>

#include "experiments/console/number_text.h"
#include "experiments/report/score_text.h"

namespace weft::experiments {
namespace {

using Finding = Contrast::Finding;

constexpr double level = 0.05;
/// More pairs than this are too many to flip all their signs.
constexpr std::size_t most_flips = 20;
/// Differences that spread less than this share of their mean do not spread.
constexpr double rounding = 1e-9;

/// Seeds pair the trials of two rows.
template <class Read>
void for_each_pair(const std::vector<const TrialRecord*>& first,
                   const std::vector<const TrialRecord*>& second, const Read& read) {
  for (const TrialRecord* a : first)
    for (const TrialRecord* b : second)
      if (a->plan.value_of("seed") == b->plan.value_of("seed")) read(*a, *b);
}

/// Differences without a spread carry no estimate of what seeds explain: there, the signs decide,
/// which takes six pairs.
Finding finding_of(const Contrast& contrast, double sign, double margin) {
  const Statistic& difference = contrast.difference;
  if (difference.n < 2) return Finding::unmeasured;
  if (difference.mean == 0 && difference.deviation == 0) return Finding::tie;
  const bool spreads = difference.deviation > rounding * std::abs(difference.mean);
  const bool beyond =
      spreads ? std::abs(difference.mean) > contrast.half_width : contrast.probability <= level;
  if (beyond) return sign * difference.mean < 0 ? Finding::better : Finding::worse;
  if (spreads && std::abs(difference.mean) + contrast.half_width <= margin) return Finding::tie;
  return Finding::undecided;
}

/// Six pairs are the fewest of which equal signs are rarer than 5 %.
constexpr Index pairs_for_signs = 6;

/// Whether what two rows are named after are settings of the model and its attention: those of
/// training show only after the first step.
bool differ_in_models_alone(const ComparedRow& first, const ComparedRow& second) {
  const auto shared = [](const auto& setting, const TrialSettings& others) {
    return std::ranges::find(others, setting) != others.end();
  };
  const auto models = [&](const TrialSettings& settings, const TrialSettings& others) {
    return std::ranges::all_of(settings, [&](const auto& setting) {
      return shared(setting, others) || setting.first.starts_with("model.") ||
             setting.first.starts_with("attention.");
    });
  };
  return models(first.settings, second.settings) && models(second.settings, first.settings);
}

bool near(double a, double b) {
  constexpr double close = 1e-5;  // sums in another order, in float
  return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= close * std::abs(a);
}

}  // namespace

double tie_margin(const ComparedRow& row, const std::string& metric) {
  constexpr double margin = 0.01;
  return metric == "perplexity" ? margin * row.scores.at(metric).mean : margin;
}

bool computes_the_same(const ComparedRow& first, const ComparedRow& second) {
  if (first.parameters != second.parameters || first.flops != second.flops) return false;
  if (!differ_in_models_alone(first, second)) return false;
  bool any = false, all = true;
  for_each_pair(first.done, second.done, [&](const TrialRecord& a, const TrialRecord& b) {
    any = true;
    all = all && near(a.first_loss, b.first_loss) && near(a.first_gradient, b.first_gradient);
  });
  return any && all;
}

Contrast contrast_of(const ComparedRow& first, const ComparedRow& second,
                     const std::string& metric) {
  std::vector<double> differences;
  for_each_pair(first.done, second.done, [&](const TrialRecord& a, const TrialRecord& b) {
    if (a.scores.contains(metric) && b.scores.contains(metric))
      differences.push_back(a.scores.at(metric) - b.scores.at(metric));
  });
  Contrast contrast;
  contrast.difference = Statistic::of(differences);
  contrast.half_width = confidence_of(contrast.difference);
  if (differences.size() <= most_flips) contrast.probability = sign_flip_probability(differences);
  const double sign = lower_is_better(metric) ? 1 : -1;
  const double margin = second.scores.contains(metric) ? tie_margin(second, metric) : 0;
  contrast.finding =
      computes_the_same(first, second) ? Finding::same : finding_of(contrast, sign, margin);
  if (contrast.finding != Finding::undecided) return contrast;
  const double size = std::max(std::abs(contrast.difference.mean), margin);
  contrast.enough = pairs_to_decide(size, contrast.difference.deviation);
  if (contrast.enough) contrast.enough = std::max(*contrast.enough, contrast.difference.n + 1);
  if (contrast.difference.deviation <= rounding * std::abs(contrast.difference.mean))
    contrast.enough = pairs_for_signs;
  return contrast;
}

std::string name_of(Finding finding) {
  switch (finding) {
    case Finding::better:
      return "better";
    case Finding::worse:
      return "worse";
    case Finding::tie:
      return "tie";
    case Finding::same:
      return "the same";
    case Finding::unmeasured:
      return "one seed";
    case Finding::undecided:
      break;
  }
  return "undecided";
}

std::string text_of(const Contrast& contrast, const std::string& metric) {
  std::string text = format_difference(metric, contrast.difference.mean);
  if (contrast.difference.n == 0) return text;
  if (std::isfinite(contrast.half_width))
    text += " ± " + format_difference(metric, contrast.half_width).substr(1);
  text += ", " + name_of(contrast.finding);
  if (contrast.finding != Finding::undecided) return text;
  return text + (contrast.enough ? " (" + std::to_string(*contrast.enough) + ")" : " (> 1000)");
}

std::vector<const ComparedRow*> competitors(const ComparedTask& task, const std::string& metric) {
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& row : task.rows)
    if (!row.leaks && row.scores.contains(metric)) rows.push_back(&row);
  const double sign = lower_is_better(metric) ? 1 : -1;
  std::ranges::stable_sort(
      rows, {}, [&](const ComparedRow* row) { return sign * row->scores.at(metric).mean; });
  return rows;
}

const ComparedRow* reference_of(const Comparison& comparison, const ComparedTask& task) {
  if (!comparison.baseline.empty()) {
    const auto base = std::ranges::find(task.rows, comparison.baseline, &ComparedRow::name);
    return base == task.rows.end() ? nullptr : &*base;
  }
  const auto rows = competitors(task, task.metrics.front());
  return rows.size() > 1 ? rows.front() : nullptr;
}

}  // namespace weft::experiments
