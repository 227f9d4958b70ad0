#pragma once

#include <string>
#include <vector>

#include "experiments/evaluate/statistics.h"

namespace weft::experiments {

inline constexpr const char* unknown_value = "—";

/// "2.4865 ± 0.0041", with — for what is not known.
std::string format_score(const std::string& metric, const Statistic& score);

/// The same of a difference, with its sign: "-0.0101".
std::string format_difference(const std::string& metric, double difference);

/// "dense, local"
std::string list_of(const std::vector<std::string>& names);

}  // namespace weft::experiments
