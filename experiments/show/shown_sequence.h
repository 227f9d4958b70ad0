#pragma once

#include <string>
#include <vector>

#include "experiments/predict/text_model.h"

namespace weft::experiments {

/// One sequence for a model to read, and how its tokens are written.
struct ShownSequence {
  core::Batch batch;                      ///< of one
  std::vector<std::string> inputs = {};   ///< of each token, "·" where it has no text
  std::vector<std::string> sources = {};  ///< likewise
  std::string origin = {};                ///< "sequence 1 of the validation data"
  core::Index left_out = 0;               ///< tokens that were cut off
};

/// Sequence `number`, from 0, of the validation data of a model that was loaded with its data; of a
/// language model the first `most` tokens.
ShownSequence validation_sequence(const TextModel& model, core::Index number, core::Index most);

/// A text as the model's task reads it: to be continued, with blanks marked by `mask`, to be
/// classified, or a source, whose target the model generates itself. Of a longer text, the first
/// `most` tokens. Questions and images have no such form and are refused.
ShownSequence text_sequence(const TextModel& model, const std::string& text,
                            const std::string& mask, core::Index most);

}  // namespace weft::experiments
