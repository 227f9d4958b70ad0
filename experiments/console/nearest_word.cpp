#include "experiments/console/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::experiments {
namespace {

std::size_t most_slips(std::string_view word) {
  return std::clamp<std::size_t>((word.size() + 1) / 3, 1, 3);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

bool is_misspelling(std::string_view word, std::string_view other) {
  const std::size_t most = most_slips(word);
  const auto [shorter, longer] = std::minmax({word.size(), other.size()});
  return longer - shorter <= most && edit_distance(word, other) <= std::min(most, longer - 1);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (!is_misspelling(word, candidate)) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace weft::experiments
