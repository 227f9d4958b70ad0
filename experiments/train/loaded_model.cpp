#include "experiments/train/loaded_model.h"

#include "core/error.h"
#include "experiments/checkpoint/saved_spelling.h"
#include "experiments/checkpoint/text_form.h"
#include "experiments/train/run_model.h"

namespace weft::experiments {

using autograd::ParameterArena;

namespace {

/// The same numbers must mean the same tokens and classes as in training.
void check_meaning(const Checkpoint& checkpoint, const data::Dataset& dataset) {
  const std::vector<std::string> differences = differences_in_meaning(checkpoint, dataset);
  if (differences.empty()) return;
  std::string text = "this data means other things by its numbers than the data that " +
                     checkpoint.path.string() + " was trained on:";
  for (const std::string& difference : differences) text += "\n  " + difference;
  throw core::Error(core::Fault::data,
                    text + "\ngive it labels and characters of the training data, and no others");
}

}  // namespace

LoadedModel::LoadedModel(const RunConfig& run, const Checkpoint& checkpoint)
    : LoadedModel(run, checkpoint, make_dataset(run, saved_meaning(checkpoint))) {}

LoadedModel::LoadedModel(const RunConfig& run, const Checkpoint& checkpoint,
                         std::unique_ptr<data::Dataset> data)
    : LoadedModel(run, checkpoint, (check_meaning(checkpoint, *data), shape_of(run, *data))) {
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
