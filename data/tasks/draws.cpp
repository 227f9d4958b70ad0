#include "data/tasks/draws.h"

#include <numeric>
#include <utility>

namespace weft::data {

using core::Index;
using core::Token;

std::vector<Index> drawn_order(Index count, const core::Rng& stream) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (Index i = count; i-- > 1;)
    std::swap(order[std::size_t(i)], order[std::size_t(stream.below(std::uint64_t(i), i + 1))]);
  return order;
}

/// Floyd's algorithm: number `last` takes the place of one that is drawn a second time.
std::set<Index> drawn_choice(Index count, Index size, const core::Rng& stream) {
  std::set<Index> chosen;
  for (Index last = size - count; last < size; ++last)
    if (!chosen.insert(stream.below(std::uint64_t(last), last + 1)).second) chosen.insert(last);
  return chosen;
}

void choose(std::vector<Token>& items, Index count, const core::Rng& stream) {
  for (Index i = 0; i < count; ++i) {
    const Index other = i + stream.below(std::uint64_t(i), Index(items.size()) - i);
    std::swap(items[std::size_t(i)], items[std::size_t(other)]);
  }
}

std::vector<Token> choose_below(Index total, Index count, const core::Rng& stream) {
  std::vector<Token> numbers(static_cast<std::size_t>(total));
  std::iota(numbers.begin(), numbers.end(), 0);
  choose(numbers, count, stream);
  numbers.resize(std::size_t(count));
  return numbers;
}

}  // namespace weft::data
