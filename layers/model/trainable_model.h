#pragma once

#include <functional>
#include <memory>

#include "autograd/parameter_arena.h"
#include "layers/model/model.h"
#include "layers/settings/model_settings.h"

namespace weft::layers {

/// A model together with its parameters, for programs that train without a config.
class TrainableModel {
 public:
  /// Moves the parameters against their gradients; false where it left them as they were.
  using Update = std::function<bool(autograd::ParameterArena&)>;

  /// With parameters drawn by their laws.
  TrainableModel(std::unique_ptr<Model> model, std::uint64_t seed);
  /// The model of these settings, each mechanism with its defaults.
  TrainableModel(const ModelSettings& settings, const ModelShape& shape, std::uint64_t seed = 1);

  const Model& model() const { return *model_; }
  autograd::ParameterArena& arena() { return arena_; }
  const autograd::Inventory& inventory() const { return inventory_; }

  /// One training step: gradients of the loss, `update`, then what must follow an update, which
  /// commits the statistics of this step and brings parameters back into their legal range.
  /// `stream` is what dropout and hashing draw from. Returns the loss before the update, in nats.
  double step(const Reading& reading, const core::Rng& stream, const Update& update);

 private:
  std::unique_ptr<Model> model_;
  autograd::Inventory inventory_;
  autograd::ParameterArena arena_;
};

}  // namespace weft::layers
