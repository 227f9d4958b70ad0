#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/report/comparison.h"

namespace weft::experiments {

/// Two rows of a task compared seed by seed in one metric: whether their difference is more than
/// seeds explain.
struct Contrast {
  enum class Finding {
    better,     ///< the 95 % interval lies wholly on the side of the first row
    worse,      ///< or of the second
    tie,        ///< it holds 0 and nothing beyond the margin
    same,       ///< both compute the same
    undecided,  ///< it holds 0 and more
    unmeasured  ///< less than two seeds have both
  };

  Statistic difference;         ///< the first row less the second
  double half_width = 0;        ///< of the 95 % interval by Student's t over seeds
  double probability = 1;       ///< by sign flips
  std::optional<Index> enough;  ///< seeds that would decide; nothing when more than 1,000
  Finding finding = Finding::unmeasured;

  bool decided() const { return finding == Finding::better || finding == Finding::worse; }
};

Contrast contrast_of(const ComparedRow& first, const ComparedRow& second,
                     const std::string& metric);

/// "better", "worse", "tie", "the same", "undecided", "one seed"
std::string name_of(Contrast::Finding finding);

/// "+0.0512 ± 0.0203, worse", "-0.0100 ± 0.0800, undecided (12)"
std::string text_of(const Contrast& contrast, const std::string& metric);

/// Smaller differences count as ties: 0.01, of a perplexity 1 %.
double tie_margin(const ComparedRow& row, const std::string& metric);

/// Whether two rows are one system under two names: the same parameters, the same arithmetic by
/// the cost model, and with the same seed the same first step, but for rounding.
bool computes_the_same(const ComparedRow& first, const ComparedRow& second);

/// What the rows of a task are measured against: the baseline, or the best that does not leak.
/// Null when there is none, or nothing else.
const ComparedRow* reference_of(const Comparison& comparison, const ComparedTask& task);

/// The rows that compete in a metric: those with a result, but for what leaks; the best first.
std::vector<const ComparedRow*> competitors(const ComparedTask& task, const std::string& metric);

}  // namespace weft::experiments
