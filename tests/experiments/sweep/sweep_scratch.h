#pragma once

#include <string>

namespace weft::experiments {

/// A model that trains in a moment, for sweeps.
inline const char* const sweep_base = R"(
[data]
length = 16
held_out = 8

[model]
layers = 1
width = 8
heads = 2

[optim]
lr = 3e-3
warmup = 2

[train]
steps = 12
batch = 2
eval_every = 4
checkpoint_every = 2
)";

}  // namespace weft::experiments
