#include "experiments/train/run_model.h"

#include "layers/model/make_model.h"

namespace weft::experiments {

using autograd::ParameterArena;

std::unique_ptr<data::Dataset> make_dataset(const RunConfig& config, const data::Meaning& known) {
  return config.data.plan.make(config.train.batch, std::uint64_t(config.seed), known);
}

layers::ModelShape shape_of(const RunConfig& config, const data::Dataset& dataset) {
  return {.vocabulary = dataset.vocabulary(),
          .length = config.data.length,
          .classes = dataset.classes(),
          .source_length = dataset.source_length(),
          .image = dataset.image()};
}

std::unique_ptr<layers::Model> make_model(const RunConfig& config,
                                          const layers::ModelShape& shape) {
  const auto recompute = config.train.recompute
                             ? layers::Recomputation(true)
                             : layers::Recomputation::of_first(config.train.recomputed);
  return layers::make_model(config.model, config.attention, shape, recompute);
}

std::vector<NamedArray> arrays_of(ParameterArena& arena, const autograd::Inventory& inventory) {
  std::vector<NamedArray> arrays;
  for (const ParameterArena::Slot& s : arena.slots())
    arrays.push_back({"params/" + s.name, s.shape, arena.value(s)});
  for (const auto& [name, state] : inventory.states())
    arrays.push_back({"states/" + name, state->value().shape(), state->writable()});
  return arrays;
}

void restore_arrays(const Checkpoint& checkpoint, const std::vector<NamedArray>& arrays) {
  for (const std::string group : {"params", "states"}) {
    std::vector<NamedArray> own;
    for (const NamedArray& array : arrays)
      if (array.name.starts_with(group + "/")) own.push_back(array);
    checkpoint.restore(group, own);
  }
}

}  // namespace weft::experiments
