#pragma once

#include <functional>

#include "experiments/checkpoint/text_form.h"
#include "experiments/train/loaded_model.h"

namespace weft::experiments {

/// A model and how its texts are read and written.
struct TextModel {
  LoadedModel saved;
  TextForm form;
  std::function<std::vector<core::Token>(std::string_view)> encode;
  std::function<std::string(std::span<const core::Token>)> decode;
  std::optional<core::ImageForm> image = {};  ///< of a model of images; it has no encode and decode
};

/// The model of a checkpoint without its data, as far as the checkpoint says how tokens are written
/// or what images are; otherwise with the data that the config names.
TextModel load_text_model(const RunConfig& config, const Checkpoint& checkpoint);

/// The same with the data that the config names, in any case.
TextModel load_model_and_data(const RunConfig& config, const Checkpoint& checkpoint);

}  // namespace weft::experiments
