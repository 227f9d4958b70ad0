#pragma once

#include <memory>
#include <vector>

#include "autograd/parameter_arena.h"
#include "data/dataset.h"
#include "experiments/checkpoint/checkpoint.h"
#include "experiments/run/run_config.h"
#include "layers/model/model.h"

/// The data and the model that a config describes, and the model's arrays as a checkpoint has them:
/// what a Trainer and a LoadedModel share.
namespace weft::experiments {

/// `known`: what tokens and classes mean to a model that has been trained.
std::unique_ptr<data::Dataset> make_dataset(const RunConfig& config,
                                            const data::Meaning& known = {});
layers::ModelShape shape_of(const RunConfig& config, const data::Dataset& dataset);
std::unique_ptr<layers::Model> make_model(const RunConfig& config, const layers::ModelShape& shape);

/// Parameters ("params/NAME") and states ("states/NAME"), as views into the arena and the model.
std::vector<NamedArray> arrays_of(autograd::ParameterArena& arena,
                                  const autograd::Inventory& inventory);
/// Fills them from a checkpoint; names and shapes must match one to one.
void restore_arrays(const Checkpoint& checkpoint, const std::vector<NamedArray>& arrays);

}  // namespace weft::experiments
