#include "core/ranks/collectives.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.h"

namespace weft::core {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

/// By a binomial tree: in round k the ranks below 2^k, counted from the first, each serve one more.
void broadcast_bytes(Ranks& ranks, std::span<std::byte> bytes, Index from) {
  const Index count = ranks.count(), own = (ranks.rank() - from + count) % count;
  const auto named = [&](Index relative) { return (relative + from) % count; };
  for (Index reach = 1; reach < count; reach *= 2) {
    if (own < reach && own + reach < count)
      ranks.exchange({{named(own + reach), bytes}}, {});
    else if (own >= reach && own < 2 * reach)
      ranks.exchange({}, {{named(own - reach), bytes}});
  }
}

void together(Ranks& ranks, const std::function<void()>& work) {
  if (ranks.alone()) return work();
  std::optional<Error> failure;
  try {
    work();
  } catch (const Error& error) {
    failure = error;
  }
  const Index first = ranks.count() - largest(ranks, failure ? ranks.count() - ranks.rank() : 0);
  if (first == ranks.count()) return;
  std::array<Index, 1> fault{failure ? Index(failure->fault()) : 0};
  broadcast_bytes(ranks, std::as_writable_bytes(std::span(fault)), first);
  if (ranks.rank() == first) throw EndedTogether(*failure, true);
  throw EndedTogether(Error(Fault(fault[0]), message_of("rank ", first, " says why this one ends")),
                      false);
}

std::string broadcast(Ranks& ranks, std::string text) {
  std::array<Index, 1> size{Index(text.size())};
  broadcast<Index>(ranks, size);
  text.resize(std::size_t(size[0]));
  broadcast_bytes(ranks, std::as_writable_bytes(std::span(text)));
  return text;
}

/// In each round a rank learns what twice as many ranks know; learning of one twice
/// changes no largest.
Index largest(Ranks& ranks, Index own) {
  const Index count = ranks.count();
  for (Index reach = 1; reach < count; reach *= 2) {
    std::array<Index, 1> mine{own}, other{};
    ranks.exchange(
        {{(ranks.rank() + reach) % count, std::as_bytes(std::span(mine))}},
        {{(ranks.rank() - reach + count) % count, std::as_writable_bytes(std::span(other))}});
    own = std::max(own, other[0]);
  }
  return own;
}

void gather_bytes(Ranks& ranks, std::span<std::byte> all, const std::vector<Index>& cuts) {
  const Index count = ranks.count(), own = ranks.rank();
  require(Index(cuts.size()) == count + 1 && cuts.back() <= Index(all.size()),
          "gather: ", cuts.size(), " cuts of ", all.size(), " bytes for ", count, " ranks");
  const auto piece = [&](Index rank) {
    const auto begin = std::size_t(cuts[std::size_t(rank)]);
    return all.subspan(begin, std::size_t(cuts[std::size_t(rank) + 1]) - begin);
  };
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (Index away = 1; away < count; ++away) {
    const Index to = (own + away) % count, from = (own - away + count) % count;
    if (!piece(own).empty()) out.push_back({to, piece(own)});
    if (!piece(from).empty()) in.push_back({from, piece(from)});
  }
  ranks.exchange(std::move(out), std::move(in));
}

std::vector<std::string> gather(Ranks& ranks, const std::string& own) {
  const Index count = ranks.count();
  std::vector<Index> sizes(std::size_t(count), 0), cuts;
  sizes[std::size_t(ranks.rank())] = Index(own.size());
  for (Index r = 0; r <= count; ++r) cuts.push_back(r);
  gather<Index>(ranks, sizes, cuts);
  for (Index r = 0, at = 0; r <= count; ++r) {
    cuts[std::size_t(r)] = at;
    if (r < count) at += sizes[std::size_t(r)];
  }
  std::vector<std::byte> all(std::size_t(cuts.back()));
  std::ranges::copy(bytes_of(own), all.begin() + cuts[std::size_t(ranks.rank())]);
  gather_bytes(ranks, all, cuts);
  std::vector<std::string> texts;
  for (Index r = 0; r < count; ++r)
    texts.emplace_back(reinterpret_cast<const char*>(all.data()) + cuts[std::size_t(r)],
                       std::size_t(sizes[std::size_t(r)]));
  return texts;
}

void add_everywhere(Ranks& ranks, std::vector<Index>& numbers) {
  const Index count = ranks.count(), size = Index(numbers.size());
  std::vector<Index> all(std::size_t(count * size)), cuts;
  for (Index r = 0; r <= count; ++r) cuts.push_back(r * size);
  std::ranges::copy(numbers, all.begin() + ranks.rank() * size);
  gather<Index>(ranks, all, cuts);
  for (Index i = 0; i < size; ++i)
    for (Index r = 0; r < count; ++r)
      if (r != ranks.rank()) numbers[std::size_t(i)] += all[std::size_t(r * size + i)];
}

std::vector<Real> sum_everywhere(Ranks& ranks, const std::vector<TreeTerm<Real>>& own,
                                 Index shards) {
  const std::size_t size = own.front().sum.size();
  std::vector<Index> cuts{0};
  std::vector<TreePart> parts;
  for (Index r = 0; r < ranks.count(); ++r) {
    const std::vector<TreePart> theirs = parts_of(shards_of(r, ranks.count(), shards));
    parts.insert(parts.end(), theirs.begin(), theirs.end());
    cuts.push_back(Index(parts.size() * size));
  }
  std::vector<Real> all(parts.size() * size);
  auto at = all.begin() + cuts[std::size_t(ranks.rank())];
  for (const TreeTerm<Real>& term : own) at = std::ranges::copy(term.sum, at).out;
  gather<Real>(ranks, all, cuts);
  std::vector<TreeTerm<Real>> terms;
  for (std::size_t i = 0; i < parts.size(); ++i)
    terms.push_back({parts[i], std::span(all).subspan(i * size, size)});
  const std::span<Real> sum = add_by_tree(std::move(terms));
  return {sum.begin(), sum.end()};
}

}  // namespace weft::core
