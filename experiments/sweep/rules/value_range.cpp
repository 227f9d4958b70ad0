#include "experiments/sweep/rules/value_range.h"

#include <algorithm>
#include <cmath>

namespace weft::experiments {
namespace {

std::optional<double> end_of(const ConfigNode& ends, std::size_t which) {
  const ConfigNode& end = (*ends.list())[which];
  if (const auto* whole = std::get_if<Index>(&end.value)) return double(*whole);
  if (const auto* number = std::get_if<double>(&end.value))
    if (std::isfinite(*number)) return *number;
  return std::nullopt;
}

double to_three_digits(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, 2 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

}  // namespace

bool ValueRange::is_meant(const ConfigNode& node) {
  const ConfigNode::Table* table = node.table();
  if (!table || table->size() != 1) return false;
  const std::string& name = table->begin()->first;
  return name == "log" || name == "linear";
}

std::optional<ValueRange> ValueRange::read(const ConfigNode& node) {
  if (!is_meant(node)) return std::nullopt;
  ValueRange range;
  range.ends = node.table()->begin()->second;
  if (!range.ends.list() || range.ends.list()->size() != 2) return std::nullopt;
  const auto low = end_of(range.ends, 0), high = end_of(range.ends, 1);
  range.log = node.table()->contains("log");
  if (!low || !high || *low > *high || (range.log && *low <= 0)) return std::nullopt;
  range.low = *low;
  range.high = *high;
  range.whole = std::ranges::all_of(*range.ends.list(), [](const ConfigNode& end) {
    return std::holds_alternative<Index>(end.value);
  });
  return range;
}

std::string ValueRange::expected(const Assignment& setting) {
  const bool log = setting.value.table() && setting.value.table()->contains("log");
  return setting.key + " must be { log = [low, high] } or { linear = [low, high] }" +
         (log ? " with 0 < low <= high" : " with low <= high");
}

ConfigNode ValueRange::draw(double share) const {
  const double top = high + (whole ? 1 : 0);
  const double x = log ? low * std::pow(top / low, share) : low + (top - low) * share;
  ConfigNode value{.value = {}, .origin = ends.origin, .spelling = {}};
  if (!whole) {
    value.value = x;
    return value;
  }
  // The whole number at or below x, between two ends that may be as large as there are.
  const Index first = std::get<Index>((*ends.list())[0].value);
  const Index last = std::get<Index>((*ends.list())[1].value);
  value.value = x >= double(last) ? last : x <= double(first) ? first : Index(std::floor(x));
  return value;
}

ConfigNode ValueRange::at(double share) const {
  ConfigNode value{.value = {}, .origin = ends.origin, .spelling = {}};
  if (share <= 0 || share >= 1) {
    value.value = (*ends.list())[share <= 0 ? 0 : 1].value;
    return value;
  }
  const double x = log ? low * std::pow(high / low, share) : low + (high - low) * share;
  if (whole)
    value.value = Index(std::llround(x));
  else
    value.value = to_three_digits(x);
  return value;
}

void flatten(const ConfigNode& node, const std::string& path, Assignments& out) {
  if (!node.table() || ValueRange::is_meant(node)) {
    out.push_back({path, node});
    return;
  }
  for (const auto& [key, child] : *node.table()) flatten(child, join_path(path, key), out);
}

}  // namespace weft::experiments
