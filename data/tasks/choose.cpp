#include "data/tasks/choose.h"

#include <numeric>
#include <utility>

namespace weft::data {

using core::Index;
using core::Token;

void choose(std::vector<Token>& items, Index count, const core::Rng& rng) {
  for (Index i = 0; i < count; ++i) {
    const Index other = i + rng.below(std::uint64_t(i), Index(items.size()) - i);
    std::swap(items[std::size_t(i)], items[std::size_t(other)]);
  }
}

std::vector<Token> choose_below(Index total, Index count, const core::Rng& rng) {
  std::vector<Token> numbers(static_cast<std::size_t>(total));
  std::iota(numbers.begin(), numbers.end(), 0);
  choose(numbers, count, rng);
  numbers.resize(std::size_t(count));
  return numbers;
}

}  // namespace weft::data
