#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/arrays/image_form.h"
#include "experiments/checkpoint/checkpoint.h"

namespace weft::experiments {

/// The form of images as a saved model carries it, "rows columns channels levels" under the name
/// "image"; empty for other data. A model then generates images without the data.
std::map<std::string, std::string> describe_image(const std::optional<core::ImageForm>& form);

/// The form among a checkpoint's facts ("data/image"); none in one that has none.
std::optional<core::ImageForm> saved_image(const Checkpoint& checkpoint);

}  // namespace weft::experiments
