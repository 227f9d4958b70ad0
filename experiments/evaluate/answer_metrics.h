#pragma once

#include <string>
#include <string_view>
#include <vector>

/// How answers to questions are compared, as the SQuAD benchmarks define it.
namespace weft::experiments {

/// The words of a text after normalising: lower case; the 32 ASCII punctuation characters removed;
/// the words a, an and the replaced by a space; divided at white space.
std::vector<std::string> normalised_words(std::string_view text);

/// How far a predicted answer is right.
struct AnswerScore {
  bool exact = false;
  double f1 = 0;
};

/// Words against words: exact where they are equal; F1 of the two multisets. Where a side is empty,
/// F1 is 1 if both are, else 0.
AnswerScore compare_words(const std::vector<std::string>& predicted,
                          const std::vector<std::string>& right);

/// The best score of a prediction, normalised, over all right answers; none of them: the empty text
/// is right.
AnswerScore score_answer(std::string_view predicted, const std::vector<std::string>& right);
/// The same symbol by symbol, without normalising.
AnswerScore score_symbols(std::string_view predicted, const std::vector<std::string>& right);

}  // namespace weft::experiments
