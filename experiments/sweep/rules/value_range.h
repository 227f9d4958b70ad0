#pragma once

#include <optional>
#include <string>

#include "experiments/sweep/rules/assignment.h"

namespace weft::experiments {

/// { log = [low, high] } or { linear = [low, high] }: where values are drawn from. They are whole
/// numbers where both ends are written so.
struct ValueRange {
  double low = 0, high = 0;
  bool log = false, whole = false;
  ConfigNode ends;

  /// Whether a node is meant as one, right or wrong.
  static bool is_meant(const ConfigNode& node);
  /// Nothing when the ends are not two finite numbers, low <= high, and above 0 where log.
  static std::optional<ValueRange> read(const ConfigNode& node);
  /// "optim.lr must be { log = [low, high] } or ..."
  static std::string expected(const Assignment& setting);

  /// At a share of the way, 0 <= share < 1; every whole number is as long a way as another.
  ConfigNode draw(double share) const;
  /// At a share of the way, both ends included: the nearest whole number, or three digits.
  ConfigNode at(double share) const;
};

/// The values of nested tables by their full keys: model.width, attention.local.window.
void flatten(const ConfigNode& node, const std::string& path, Assignments& out);

}  // namespace weft::experiments
