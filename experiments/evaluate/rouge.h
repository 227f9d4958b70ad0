#pragma once

#include <string>
#include <vector>

namespace weft::experiments {

/// How far a generated text agrees with a reference, as F1 of what they share: words, pairs of
/// neighbouring words, and the longest common subsequence of words.
struct Rouge {
  double one = 0, two = 0, longest = 0;
};

/// ROUGE-1, ROUGE-2 and ROUGE-L of the whole texts, without stemming. An n-gram counts as often as
/// both sides have it; 0 where a side has none.
Rouge rouge_of(const std::vector<std::string>& candidate,
               const std::vector<std::string>& reference);

}  // namespace weft::experiments
