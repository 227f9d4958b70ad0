#include "experiments/checkpoint/saved_image.h"

#include <sstream>

#include "core/error.h"

namespace weft::experiments {

std::map<std::string, std::string> describe_image(const std::optional<core::ImageForm>& form) {
  if (!form) return {};
  return {{"image", core::message_of(form->rows, " ", form->columns, " ", form->channels, " ",
                                     form->levels)}};
}

std::optional<core::ImageForm> saved_image(const Checkpoint& checkpoint) {
  if (!checkpoint.has("data/image")) return {};
  std::istringstream text(checkpoint.text("data/image"));
  core::ImageForm form;
  text >> form.rows >> form.columns >> form.channels >> form.levels;
  if (!text || form.rows < 1 || form.columns < 1 || form.channels < 1 || form.levels < 2)
    throw core::Error(core::Fault::checkpoint,
                      checkpoint.path.string() + ": the form of its images cannot be read");
  return form;
}

}  // namespace weft::experiments
