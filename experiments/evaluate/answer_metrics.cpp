#include "experiments/evaluate/answer_metrics.h"

#include <algorithm>
#include <clocale>
#include <cwctype>
#include <functional>
#include <map>

#include "data/spelling/utf8.h"

namespace weft::experiments {
namespace {

using Words = std::vector<std::string>;

/// Unicode's classes of characters, whatever the user's own locale; those of ASCII where the system
/// lacks them.
locale_t characters() {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t(0));
  static const locale_t used = unicode ? unicode : newlocale(LC_CTYPE_MASK, "C", locale_t(0));
  return used;
}

bool is_punctuation(char32_t c) { return c < 0x80 && iswpunct_l(wint_t(c), characters()) != 0; }

/// No-break spaces, which the locale does not count, divide words too.
bool is_space(char32_t c) {
  return c == 0xa0 || c == 0x2007 || c == 0x202f || iswspace_l(wint_t(c), characters()) != 0;
}

bool is_of_word(char32_t c) { return iswalnum_l(wint_t(c), characters()) != 0; }

/// The characters of a text; a byte that is not UTF-8 stands for itself.
std::u32string characters_of(std::string_view text) {
  std::u32string all;
  for (std::size_t at = 0; at < text.size();) {
    const auto read = data::read_character(text, at);
    all.push_back(read ? *read : char32_t(std::uint8_t(text[at++])));
  }
  return all;
}

bool is_article(std::u32string_view word) {
  return word == U"a" || word == U"an" || word == U"the";
}

/// The text with every article replaced by a space: a maximal run of letters and digits.
std::u32string without_articles(const std::u32string& text) {
  std::u32string kept;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_word(text[end])) ++end;
    const std::u32string_view word = std::u32string_view(text).substr(at, end - at);
    if (is_article(word))
      kept += U' ';
    else
      kept += word;
    if (end < text.size()) kept += text[end];
    at = end + 1;
  }
  return kept;
}

AnswerScore best_of(const std::vector<std::string>& right,
                    const std::function<AnswerScore(const std::string&)>& score) {
  if (right.empty()) return score("");
  AnswerScore best;
  for (const std::string& answer : right) {
    const AnswerScore own = score(answer);
    best = {best.exact || own.exact, std::max(best.f1, own.f1)};
  }
  return best;
}

Words symbols_of(std::string_view text) {
  Words symbols;
  for (const char32_t c : characters_of(text)) data::append_character(symbols.emplace_back(), c);
  return symbols;
}

}  // namespace

Words normalised_words(std::string_view text) {
  std::u32string lower;
  for (const char32_t c : characters_of(text))
    if (!is_punctuation(c)) lower += char32_t(towlower_l(wint_t(c), characters()));
  Words words(1);
  for (const char32_t c : without_articles(lower)) {
    if (!is_space(c))
      data::append_character(words.back(), c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

AnswerScore compare_words(const Words& predicted, const Words& right) {
  AnswerScore score{predicted == right, 0};
  if (predicted.empty() || right.empty()) {
    score.f1 = predicted.empty() && right.empty() ? 1 : 0;
    return score;
  }
  std::map<std::string, int> left;
  for (const std::string& word : right) ++left[word];
  int common = 0;
  for (const std::string& word : predicted)
    if (left[word]-- > 0) ++common;
  score.f1 = 2.0 * common / double(predicted.size() + right.size());
  return score;
}

AnswerScore score_answer(std::string_view predicted, const Words& right) {
  const Words own = normalised_words(predicted);
  return best_of(right, [&](const std::string& answer) {
    return compare_words(own, normalised_words(answer));
  });
}

AnswerScore score_symbols(std::string_view predicted, const Words& right) {
  const Words own = symbols_of(predicted);
  return best_of(right,
                 [&](const std::string& answer) { return compare_words(own, symbols_of(answer)); });
}

}  // namespace weft::experiments
