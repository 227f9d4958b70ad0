#include "experiments/train/loaded_model.h"

#include "experiments/train/run_model.h"

namespace weft::experiments {

using autograd::ParameterArena;

LoadedModel::LoadedModel(const RunConfig& run, const Checkpoint& checkpoint)
    : LoadedModel(run, checkpoint, make_dataset(run)) {}

LoadedModel::LoadedModel(const RunConfig& run, const Checkpoint& checkpoint,
                         std::unique_ptr<data::Dataset> data)
    : LoadedModel(run, checkpoint, shape_of(run, *data)) {
  dataset = std::move(data);
}

LoadedModel::LoadedModel(const RunConfig& run, const Checkpoint& checkpoint,
                         const layers::ModelShape& shape)
    : config(run), model(make_model(run, shape)) {
  autograd::Inventory inventory;
  model->visit(inventory);
  arena = std::make_unique<ParameterArena>(inventory, ParameterArena::Use::inference,
                                           config.train.precision);
  restore_arrays(checkpoint, arrays_of(*arena, inventory));
}

}  // namespace weft::experiments
