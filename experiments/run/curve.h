#pragma once

#include <vector>

#include "core/real.h"

namespace weft::experiments {

/// Something followed over the steps of a run.
struct Curve {
  std::vector<core::Index> steps = {};
  std::vector<double> values = {};

  void add(core::Index step, double value) {
    steps.push_back(step);
    values.push_back(value);
  }
};

}  // namespace weft::experiments
