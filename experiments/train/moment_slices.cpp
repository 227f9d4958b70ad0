#include "experiments/train/moment_slices.h"

#include <algorithm>

#include "core/ranks/collectives.h"

namespace weft::experiments {
namespace {

std::span<Real> stretch(std::span<Real> all, core::Stretch range) {
  return all.subspan(std::size_t(range.begin), std::size_t(range.size()));
}

}  // namespace

std::vector<Real> gather_moments(core::Ranks& ranks, const core::Slices& slices, Index size,
                                 std::span<const Real> own) {
  const Index dense = slices.count(ranks.rank());
  if (!ranks.is_first()) {
    ranks.exchange({{0, std::as_bytes(own.first(std::size_t(dense)))}}, {});
    return {};
  }
  std::vector<Real> whole(static_cast<std::size_t>(size));
  for (Index r = 0; r < ranks.count(); ++r) {
    std::vector<Real> theirs(std::size_t(slices.count(r)));
    if (r == 0)
      std::copy_n(own.begin(), dense, theirs.begin());
    else
      ranks.exchange({}, {{r, std::as_writable_bytes(std::span(theirs))}});
    auto from = theirs.begin();
    for (const core::Stretch& range : slices.owned(r)) {
      std::copy_n(from, range.size(), stretch(whole, range).begin());
      from += range.size();
    }
  }
  std::copy(own.begin() + dense, own.end(), whole.begin() + slices.size());
  return whole;
}

void scatter_moments(core::Ranks& ranks, const core::Slices& slices, std::span<Real> whole,
                     std::span<Real> own) {
  const Index dense = slices.count(ranks.rank());
  const auto behind = own.subspan(std::size_t(dense));
  if (ranks.is_first()) {
    for (Index r = 0; r < ranks.count(); ++r) {
      std::vector<Real> theirs;
      for (const core::Stretch& range : slices.owned(r)) {
        const auto from = stretch(whole, range);
        theirs.insert(theirs.end(), from.begin(), from.end());
      }
      if (r == 0)
        std::ranges::copy(theirs, own.begin());
      else
        ranks.exchange({{r, std::as_bytes(std::span(theirs))}}, {});
    }
    std::copy(whole.begin() + slices.size(), whole.end(), behind.begin());
  } else {
    ranks.exchange({}, {{0, std::as_writable_bytes(own.first(std::size_t(dense)))}});
  }
  core::broadcast<Real>(ranks, behind);
}

}  // namespace weft::experiments
