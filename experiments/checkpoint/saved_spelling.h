#pragma once

#include <map>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "experiments/checkpoint/checkpoint.h"

namespace weft::experiments {

/// How a dataset writes its tokens, as a saved model carries it: units ("bytes" or "characters")
/// and, for characters, alphabet: a JSON string with the character of every token in order. Empty
/// where the dataset has no such spelling.
std::map<std::string, std::string> describe_spelling(const std::optional<data::Spelling>& spelling);

/// The spelling among a checkpoint's facts ("data/units", "data/alphabet"); none in one that has
/// none.
std::optional<data::Spelling> saved_spelling(const Checkpoint& checkpoint);

}  // namespace weft::experiments
