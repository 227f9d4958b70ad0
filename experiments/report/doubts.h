#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/report/comparison.h"

namespace weft::experiments {

/// Why a verdict may mislead.
struct Doubt {
  std::string text;
  std::vector<std::string> rows;  ///< that it concerns
};

/// In this order: rows that compute the same, few seeds, settings chosen at the edge of what was
/// tried, curves that still fall, and how many of the verdicts chance alone would give.
std::vector<Doubt> doubts_of(const ComparedTask& task);

/// The next value to try where the chosen one is the smallest or largest of those tried: as far
/// from it as its neighbour in ratio, at most three times; in steps where there is no ratio.
/// Nothing when it is not at the edge, or there is nothing beyond.
std::optional<std::string> value_beyond(const TriedSetting& setting);

/// By which share of itself the mean validation loss of a row fell over the last quarter of its
/// steps; nothing with less than four validations.
std::optional<double> late_fall(const ComparedRow& row);
/// A fall of more than this says that the budget was too short.
inline constexpr double still_falling = 0.01;

}  // namespace weft::experiments
