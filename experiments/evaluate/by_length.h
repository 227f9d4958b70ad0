#pragma once

#include <string>
#include <vector>

#include "experiments/evaluate/evaluation.h"

namespace weft::experiments {

/// A model scored on sequences of one length.
struct LengthEvaluation {
  Index length = 0;
  Evaluation evaluation;
};

/// Bits and accuracy at each length and, where the data knows it, whole answers by depth and
/// length.
std::string print_by_length(const std::vector<LengthEvaluation>& evaluations);

}  // namespace weft::experiments
