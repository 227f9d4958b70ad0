#include "experiments/evaluate/rouge.h"

#include <algorithm>
#include <map>

namespace weft::experiments {
namespace {

using Words = std::vector<std::string>;

std::map<Words, std::size_t> grams_of(const Words& words, std::size_t n) {
  std::map<Words, std::size_t> counts;
  for (std::size_t i = 0; i + n <= words.size(); ++i)
    ++counts[Words(words.begin() + std::ptrdiff_t(i), words.begin() + std::ptrdiff_t(i + n))];
  return counts;
}

std::size_t grams_in(const Words& words, std::size_t n) {
  return words.size() < n ? 0 : words.size() - n + 1;
}

double by_grams(const Words& a, const Words& b, std::size_t n) {
  const std::size_t all = grams_in(a, n) + grams_in(b, n);
  if (grams_in(a, n) == 0 || grams_in(b, n) == 0) return 0;
  const auto in_b = grams_of(b, n);
  std::size_t shared = 0;
  for (const auto& [gram, count] : grams_of(a, n))
    if (const auto found = in_b.find(gram); found != in_b.end())
      shared += std::min(count, found->second);
  return 2 * double(shared) / double(all);
}

/// Row by row of the usual table: `row[j]` is the length over the words of a so far and b's first
/// j.
std::size_t longest_common(const Words& a, const Words& b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const std::string& word : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = word == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

Rouge rouge_of(const Words& candidate, const Words& reference) {
  if (candidate.empty() || reference.empty()) return {};
  return {by_grams(candidate, reference, 1), by_grams(candidate, reference, 2),
          2 * double(longest_common(candidate, reference)) /
              double(candidate.size() + reference.size())};
}

}  // namespace weft::experiments
