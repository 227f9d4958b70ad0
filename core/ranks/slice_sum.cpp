#include "core/ranks/slice_sum.h"

#include <algorithm>

#include "core/ranks/collectives.h"

namespace weft::core {
namespace {

/// Not that of exchanges which someone waits for while sums are on their way.
constexpr int sum_channel = 1;

}  // namespace

SliceSum::SliceSum(Ranks& ranks, const Slices& slices, Index shards)
    : ranks_(ranks), slices_(slices) {
  for (Index r = 0; r < ranks.count(); ++r)
    parts_.push_back(parts_of(shards_of(r, ranks.count(), shards)));
}

void SliceSum::begin(Index bucket, std::vector<TreeTerm<Real>> parts) {
  Moving moving{bucket, std::move(parts), {}, nullptr};
  const Index count = ranks_.count(), own = ranks_.rank();
  const Stretch mine = slices_.of(bucket, own);
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (Index away = 1; away < count; ++away) {
    const Index to = (own + away) % count;
    if (const Stretch theirs = slices_.of(bucket, to); theirs.size() > 0)
      for (const TreeTerm<Real>& term : moving.parts)
        out.push_back({to, std::as_bytes(numbers_of(term.sum, theirs))});
  }
  for (Index from = 0; from < count && mine.size() > 0; ++from) {
    if (from == own) continue;
    for (std::size_t i = 0; i < parts_[std::size_t(from)].size(); ++i) {
      moving.received.emplace_back(std::size_t(mine.size()));
      in.push_back({from, std::as_writable_bytes(std::span(moving.received.back()))});
    }
  }
  moving.transfer = ranks_.begin(std::move(out), std::move(in), sum_channel);
  moving_.push_back(std::move(moving));
}

void SliceSum::add(Moving& moving, std::span<Real> to) const {
  const Stretch mine = slices_.of(moving.bucket, ranks_.rank());
  if (mine.size() == 0) return;
  std::vector<TreeTerm<Real>> terms;
  auto received = moving.received.begin();
  for (std::size_t r = 0; r < parts_.size(); ++r)
    for (std::size_t i = 0; i < parts_[r].size(); ++i)
      terms.push_back({parts_[r][i], Index(r) == ranks_.rank()
                                         ? numbers_of(moving.parts[i].sum, mine)
                                         : std::span<Real>(*received++)});
  const std::span<Real> sum = add_by_tree(std::move(terms)), place = numbers_of(to, mine);
  if (sum.data() != place.data()) std::ranges::copy(sum, place.begin());
}

void SliceSum::finish(std::span<Real> to) {
  for (Moving& moving : moving_) {
    moving.transfer->wait();
    add(moving, to);
    moving.received.clear();
  }
  moving_.clear();
}

void share_pieces(Ranks& ranks, const Slices& slices, std::span<const Stretch> pieces,
                  std::span<double> numbers) {
  if (ranks.alone()) return;
  std::vector<std::vector<std::size_t>> of(std::size_t(ranks.count()));
  for (Index r = 0; r < ranks.count(); ++r)
    for (const Stretch& range : slices.owned(r)) {
      auto next = std::ranges::lower_bound(pieces, range.begin, {}, &Stretch::begin);
      for (; next != pieces.end() && next->begin < range.end; ++next)
        of[std::size_t(r)].push_back(std::size_t(next - pieces.begin()));
    }
  std::vector<double> all;
  std::vector<Index> cuts{0};
  for (const auto& own : of) {
    for (const std::size_t piece : own) all.push_back(numbers[piece]);
    cuts.push_back(Index(all.size()));
  }
  gather<double>(ranks, all, cuts);
  auto from = all.begin();
  for (const auto& own : of)
    for (const std::size_t piece : own) numbers[piece] = *from++;
}

}  // namespace weft::core
