// All that a program needs of weft, through one header: tensors and ops, layers and models,
// optimizers, data, and runs as the program weft makes them.
#pragma once

#include "autograd/ops.h"
#include "autograd/parameter_arena.h"
#include "autograd/pass.h"
#include "core/arrays/tensor.h"
#include "core/arrays/tokens.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "data/dataset.h"
#include "data/settings.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/evaluate/generation.h"
#include "experiments/run/run_config.h"
#include "experiments/train/trainer.h"
#include "layers/attention/registry.h"
#include "layers/model/model.h"
#include "optim/optimizer.h"
#include "optim/take_step.h"
