#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::experiments {

/// How many letters must be inserted, left out, replaced or swapped with their neighbour to turn
/// one word into the other (optimal string alignment, the restricted Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Whether `word` may be a slip of the pen for `other`: about one letter in three is wrong.
bool is_misspelling(std::string_view word, std::string_view other);

/// The candidate that `word` is most likely a misspelling of; empty when none is close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace weft::experiments
