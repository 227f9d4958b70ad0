#pragma once

#include <string>
#include <vector>

#include "experiments/run/run_config.h"

namespace weft::experiments {

/// What a reader must know of a model in addition to its arrays, as JSON: sizes, norms, positions,
/// activation, and which attention each layer has.
std::string model_facts(const RunConfig& config);

/// What makes a model more than a dense Transformer: one line each, none for a model that
/// numpy_reader computes. Those have layers of dense softmax attention, layer or rms
/// norms, learned, sinusoidal, rotary or no positions, and predict tokens or classes.
std::vector<std::string> beyond_dense(const RunConfig& config);

}  // namespace weft::experiments
