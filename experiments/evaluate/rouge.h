#pragma once

#include <string>
#include <string_view>
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

/// The words of a text line by line; lines without a word are left out.
using WordLines = std::vector<std::vector<std::string>>;
WordLines lines_of(std::string_view text);

/// ROUGE-Lsum: for every line of the reference the words that are in its longest common subsequence
/// with any line of the candidate, each word counted as often as both texts have it, as F1. For two
/// single lines this is ROUGE-L.
double rouge_by_lines(const WordLines& candidate, const WordLines& reference);

}  // namespace weft::experiments
