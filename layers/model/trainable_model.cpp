#include "layers/model/trainable_model.h"

#include "layers/model/make_model.h"
#include "layers/settings/default_plans.h"

namespace weft::layers {
namespace {

autograd::Inventory listed(Model& model) {
  autograd::Inventory inventory;
  model.visit(inventory);
  return inventory;
}

}  // namespace

TrainableModel::TrainableModel(std::unique_ptr<Model> model, std::uint64_t seed)
    : model_(std::move(model)),
      inventory_(listed(*model_)),
      arena_(inventory_, autograd::ParameterArena::Use::training) {
  arena_.initialise(core::Rng(seed).fold("parameters"));
}

TrainableModel::TrainableModel(const ModelSettings& settings, const ModelShape& shape,
                               std::uint64_t seed)
    : TrainableModel(
          make_model(
              settings,
              default_plans(settings, settings.places(std::max(shape.length, shape.source_length))),
              shape),
          seed) {}

double TrainableModel::step(const Reading& reading, const core::Rng& stream, const Update& update) {
  arena_.zero_gradients();
  autograd::Journal journal;
  autograd::Tape tape;
  const Var loss = model_->loss(Pass(tape, stream, journal), reading, 1);
  const double value = core::scalar(loss.value());
  tape.sweep(loss);
  if (update(arena_)) {
    journal.commit();
    inventory_.constrain();
  }
  return value;
}

}  // namespace weft::layers
