#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "experiments/checkpoint/checkpoint.h"

namespace weft::experiments {

/// How a dataset writes its tokens, as a saved model carries it: units ("bytes", "characters" or
/// "sentencepiece"); for characters alphabet, a JSON string with the character of every token in
/// order; for sentencepiece tokenizer, its model file in base64. Empty where the dataset has no
/// such spelling.
std::map<std::string, std::string> describe_spelling(const std::optional<data::Spelling>& spelling);

/// What its classes are called, as a saved model carries it: a JSON list of names.
std::string describe_classes(const std::vector<std::string>& names);

/// Those names; none in a checkpoint that has none.
std::vector<std::string> saved_classes(const Checkpoint& checkpoint);

/// How the meaning of a dataset's tokens and classes differs from what a checkpoint was trained on,
/// one line for each difference; none where the checkpoint does not say.
std::vector<std::string> differences_in_meaning(const Checkpoint& checkpoint,
                                                const data::Dataset& dataset);

/// The spelling among a checkpoint's facts ("data/units" and so on); none in one that has
/// none.
std::optional<data::Spelling> saved_spelling(const Checkpoint& checkpoint);

}  // namespace weft::experiments
