#include "core/ranks/tree_sum.h"

#include <algorithm>
#include <bit>

#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::core {

Stretch shards_of(Index rank, Index ranks, Index shards) {
  require(ranks >= 1 && ranks <= shards && rank >= 0 && rank < ranks, "shards: rank ", rank, " of ",
          ranks, " for ", shards, " shards");
  return {rank * shards / ranks, (rank + 1) * shards / ranks};
}

std::vector<TreePart> parts_of(Stretch shards) {
  std::vector<TreePart> parts;
  for (Index at = shards.begin; at < shards.end;) {
    Index level = 0;
    while (at % (Index(2) << level) == 0 && at + (Index(2) << level) <= shards.end) ++level;
    parts.push_back({level, at >> level});
    at = parts.back().end();
  }
  return parts;
}

void add_terms(std::span<const Real> from, std::span<Real> to) {
  require(from.size() == to.size(), "add_terms: ", from.size(), " and ", to.size(), " numbers");
  parallel_for(Index(to.size()), elementwise_grain, [&](Index begin, Index end) {
    simd().add(to.data() + begin, from.data() + begin, to.data() + begin, end - begin);
  });
  counters().added_terms += Index(to.size());
}

std::span<Real> add_by_tree(std::vector<TreeTerm<Real>> parts) {
  require(!parts.empty() && parts.front().part.begin() == 0,
          "add_by_tree: the parts must begin with the first shard");
  std::vector<TreeTerm<Real>> whole;
  const auto add = [](const TreeTerm<Real>& to, const TreeTerm<Real>& from) {
    add_terms(from.sum, to.sum);
  };
  Index shard = 0;
  for (const TreeTerm<Real>& next : parts) {
    require(shard == next.part.begin(), "add_by_tree: shard ", next.part.begin(),
            " does not follow its neighbour");
    shard = next.part.end();
    push_part(whole, next, add);
  }
  return join_all(std::move(whole), add).sum;
}

double add_by_tree(std::span<const double> shards) {
  if (shards.size() == 1) return shards[0];
  const std::size_t left = std::bit_floor(shards.size() - 1);
  return add_by_tree(shards.first(left)) + add_by_tree(shards.subspan(left));
}

std::size_t TreeSum::joined() const {
  TreePart part{0, next_};
  std::size_t count = 0;
  while (count < pending_.size() && pending_[pending_.size() - 1 - count].part.joins(part)) {
    part = {part.level + 1, part.index / 2};
    ++count;
  }
  return count;
}

void TreeSum::take(std::span<Real> values) {
  require(next_ < shards_.end, "tree sum: all ", shards_.size(), " shards have been taken");
  const std::size_t count = joined();
  for (std::size_t i = 0; i < count; ++i) {
    add_terms(pending_.back().sum, values);
    free_.push_back(std::move(pending_.back().sum));
    pending_.pop_back();
  }
  last_ = {Index(count), next_ >> count};
  if (++next_ < shards_.end) put_aside(values, last_);
}

void TreeSum::join_last(std::span<Real> values, Stretch piece) {
  require(at_last(), "tree sum: shard ", next_, " is not the last one");
  const auto at = std::size_t(piece.begin), size = std::size_t(piece.size());
  const std::size_t count = joined();
  for (std::size_t i = 0; i < count; ++i)
    add_terms(std::span(pending_[pending_.size() - 1 - i].sum).subspan(at, size),
              values.subspan(at, size));
}

void TreeSum::put_aside(std::span<const Real> values, TreePart part) {
  std::vector<Real> sum;
  if (!free_.empty()) {
    sum = std::move(free_.back());
    free_.pop_back();
  }
  sum.resize(values.size());
  parallel_for(Index(values.size()), elementwise_grain, [&](Index begin, Index end) {
    std::copy(values.begin() + begin, values.begin() + end, sum.begin() + begin);
  });
  pending_.push_back({part, std::move(sum)});
}

std::vector<TreeTerm<Real>> TreeSum::parts(std::span<Real> values) {
  std::vector<TreeTerm<Real>> all;
  const std::size_t count = at_last() ? joined() : 0;
  for (std::size_t i = 0; i + count < pending_.size(); ++i)
    all.push_back({pending_[i].part, pending_[i].sum});
  all.push_back({at_last() ? TreePart{Index(count), next_ >> count} : last_, values});
  return all;
}

void TreeSum::restart() {
  for (Pending& old : pending_) free_.push_back(std::move(old.sum));
  pending_.clear();
  next_ = shards_.begin;
}

}  // namespace weft::core
