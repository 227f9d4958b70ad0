#include "experiments/evaluate/rouge.h"

#include <algorithm>
#include <map>
#include <set>

#include "data/plain_words.h"

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

/// Which words of `line` are in one longest common subsequence with `other`, added to `found`.
/// Where there are several, the one that the published scorer finds.
void add_common(const Words& line, const Words& other, std::set<std::size_t>& found) {
  const std::size_t n = other.size() + 1;
  std::vector<std::size_t> table((line.size() + 1) * n, 0);
  for (std::size_t i = 1; i <= line.size(); ++i)
    for (std::size_t j = 1; j < n; ++j)
      table[i * n + j] = line[i - 1] == other[j - 1]
                             ? table[(i - 1) * n + j - 1] + 1
                             : std::max(table[(i - 1) * n + j], table[i * n + j - 1]);
  for (std::size_t i = line.size(), j = other.size(); i > 0 && j > 0;) {
    if (line[i - 1] == other[j - 1]) {
      found.insert(i - 1);
      --i, --j;
    } else if (table[i * n + j - 1] > table[(i - 1) * n + j]) {
      --j;
    } else {
      --i;
    }
  }
}

/// How often each word is in some lines, and how many words they have.
struct LineCounts {
  explicit LineCounts(const WordLines& lines) {
    for (const Words& line : lines) {
      all += line.size();
      for (const std::string& word : line) ++of_word[word];
    }
  }
  std::map<std::string, std::size_t> of_word;
  std::size_t all = 0;
};

}  // namespace

WordLines lines_of(std::string_view text) {
  WordLines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (Words words = data::plain_words(text.substr(0, end)); !words.empty())
      lines.push_back(std::move(words));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

double rouge_by_lines(const WordLines& candidate, const WordLines& reference) {
  LineCounts in_candidate(candidate), in_reference(reference);
  std::size_t shared = 0;
  for (const Words& line : reference) {
    std::set<std::size_t> common;
    for (const Words& other : candidate) add_common(line, other, common);
    for (const std::size_t i : common) {
      std::size_t &here = in_candidate.of_word[line[i]], &there = in_reference.of_word[line[i]];
      if (here == 0 || there == 0) continue;
      ++shared, --here, --there;
    }
  }
  const std::size_t all = in_candidate.all + in_reference.all;
  return all == 0 ? 0 : 2 * double(shared) / double(all);
}

Rouge rouge_of(const Words& candidate, const Words& reference) {
  if (candidate.empty() || reference.empty()) return {};
  return {by_grams(candidate, reference, 1), by_grams(candidate, reference, 2),
          2 * double(longest_common(candidate, reference)) /
              double(candidate.size() + reference.size())};
}

}  // namespace weft::experiments
