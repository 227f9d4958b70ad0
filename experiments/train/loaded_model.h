#pragma once

#include <memory>

#include "autograd/parameter_arena.h"
#include "data/dataset.h"
#include "experiments/checkpoint/checkpoint.h"
#include "experiments/run/run_config.h"
#include "layers/model/model.h"

namespace weft::experiments {

/// The model of a checkpoint, ready for inference.
struct LoadedModel {
  LoadedModel(const RunConfig& config, const Checkpoint& checkpoint,
              const layers::ModelShape& shape);
  /// With the data that the config names.
  LoadedModel(const RunConfig& config, const Checkpoint& checkpoint);

  RunConfig config;
  std::unique_ptr<data::Dataset> dataset;  ///< none where only the model's shape was given
  std::unique_ptr<layers::Model> model;
  std::unique_ptr<autograd::ParameterArena> arena;

 private:
  LoadedModel(const RunConfig& config, const Checkpoint& checkpoint,
              std::unique_ptr<data::Dataset> data);
};

}  // namespace weft::experiments
