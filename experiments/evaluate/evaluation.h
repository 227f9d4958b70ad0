#pragma once

#include <string>

#include "experiments/evaluate/tally.h"
#include "layers/model/model.h"

namespace weft::experiments {

/// Scores the model with dropout off.
Evaluation evaluate(const layers::Model& model, const data::Dataset& dataset,
                    const EvaluationOptions& options = {});

/// The table that people read: bits, perplexity, the floor, loss by position, recall by distance.
/// `name` of what was scored, if it is not the split.
std::string print_evaluation(const Evaluation& evaluation, const data::Dataset& dataset,
                             data::Split split, std::string_view name = "");

}  // namespace weft::experiments
