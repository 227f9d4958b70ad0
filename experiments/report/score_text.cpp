#include "experiments/report/score_text.h"

#include <cmath>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

int decimals_of(const std::string& metric) { return metric == "bits" || metric == "loss" ? 4 : 3; }

}  // namespace

std::string format_score(const std::string& metric, const Statistic& score) {
  if (score.n == 0) return unknown_value;
  const int decimals = decimals_of(metric);
  return format_fixed(score.mean, decimals) +
         (score.n > 1 ? " ± " + format_fixed(score.deviation, decimals) : "");
}

std::string format_difference(const std::string& metric, double difference) {
  return std::isfinite(difference) ? format_signed(difference, decimals_of(metric)) : unknown_value;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace weft::experiments
