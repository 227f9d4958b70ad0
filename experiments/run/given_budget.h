#pragma once

#include <string>
#include <vector>

#include "experiments/config/tree.h"

namespace weft::experiments {

/// A budget of the command line (train.steps, tokens, flops or minutes) replaces that of the files.
/// Where it is so few steps that the warm-up of the files does not end within them, the warm-up
/// becomes a tenth of them; `remarks` then says so. A warm-up between 0 and 1 is a share of
/// train.steps and becomes their number.
ConfigTree with_given_budget(ConfigTree tree, std::vector<std::string>& remarks);

}  // namespace weft::experiments
